-- Business documents for `knowledge_search`, in passages. The id is made of the content: the same text twice is one row.
CREATE TABLE knowledge_passage (
    id uuid PRIMARY KEY,
    content text NOT NULL,
    embedding vector NOT NULL,
    embedding_model text NOT NULL,
    keywords tsvector NOT NULL DEFAULT '',
    source text NOT NULL,
    title text NOT NULL DEFAULT '',
    metadata jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX knowledge_passage_source ON knowledge_passage (source);
