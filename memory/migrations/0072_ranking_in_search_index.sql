-- What a search ranks by stands in its index too: to look it up row by row took most of a recall's time.
DROP VIEW searchable_memory;
DROP INDEX user_memory_search, user_memory_search_long;
ALTER TABLE user_memory DROP COLUMN fits_index;
DROP FUNCTION memory_fits_index(text, text, text[], tsvector);

-- Whether a memory fits into an index entry, which has at most 2,704 bytes. The few that do not are read from the table.
CREATE FUNCTION memory_fits_index(
    user_id text, thread_id text, embedding_model text, domains text[], keywords tsvector) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN octet_length(user_id) + octet_length(coalesce(thread_id, '')) + octet_length(coalesce(embedding_model, ''))
           + octet_length(array_to_string(domains, '')) + 8 * cardinality(domains) + 8 * length(keywords) <= 1350;

ALTER TABLE user_memory ADD COLUMN fits_index boolean GENERATED ALWAYS AS (
    memory_fits_index(user_id, source_thread_id, embedding_model, domains, keywords)) STORED NOT NULL;

CREATE INDEX user_memory_search ON user_memory (user_id)
    INCLUDE (id, embedding_model, valid_to, domains, source_thread_id, source_position, memory_type, importance,
             last_confirmed_at, search_vector, search_terms)
    WHERE superseded_by IS NULL AND fits_index;
CREATE INDEX user_memory_search_long ON user_memory (user_id) WHERE superseded_by IS NULL AND NOT fits_index;

CREATE VIEW searchable_memory AS
    SELECT id, user_id, embedding_model, valid_to, domains, source_thread_id, source_position, memory_type, importance,
           last_confirmed_at, search_vector, search_terms
      FROM user_memory WHERE superseded_by IS NULL AND fits_index
    UNION ALL
    SELECT id, user_id, embedding_model, valid_to, domains, source_thread_id, source_position, memory_type, importance,
           last_confirmed_at, search_vector, search_terms
      FROM user_memory WHERE superseded_by IS NULL AND NOT fits_index;

COMMENT ON VIEW searchable_memory IS 'What a search reads of the memories that nothing supersedes; filter by user.';
