-- English words are now found by their Snowball stems. Texts that were stored under lighter stems get these too; the
-- configuration `english` makes the same ones.
UPDATE user_memory
   SET keywords = keywords || strip(to_tsvector('english', content || ' ' || replace(memory_key, '_', ' ')));
UPDATE session_snapshot
   SET keywords = keywords || strip(to_tsvector('english', summary));
UPDATE knowledge_passage
   SET keywords = keywords || strip(to_tsvector('english', title || ' ' || content));
