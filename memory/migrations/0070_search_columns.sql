-- What recall reads of a memory, in one index that keeps each user's memories together: a scan over a large user then
-- reads neighbouring pages instead of one page a memory.

-- A search term as a number. Kept here alone: questions are translated by the same function.
CREATE FUNCTION memory_term_number(term text) RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ('x' || substr(md5(term), 1, 7))::bit(28)::integer + 1;

-- The terms of a memory as a vector with a one at each term's number. The inner product with a question whose terms
-- weigh 1, 2, 4, 8 … then tells in one step which of them the memory holds.
CREATE FUNCTION memory_term_vector(keywords tsvector) RETURNS sparsevec
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (SELECT ('{' || coalesce(string_agg(DISTINCT memory_term_number(term) || ':1', ','), '') || '}/268435456')
                   ::sparsevec
              FROM unnest(tsvector_to_array(keywords)) AS term);

-- Whether a memory fits into an index entry, which has at most 2,704 bytes. The few that do not are read from the table.
CREATE FUNCTION memory_fits_index(user_id text, embedding_model text, domains text[], keywords tsvector) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN octet_length(user_id) + octet_length(coalesce(embedding_model, ''))
           + octet_length(array_to_string(domains, '')) + 8 * cardinality(domains) + 8 * length(keywords) <= 1400;

-- The full embedding is read for few memories at a time, so it moves out of the row.
ALTER TABLE user_memory ALTER COLUMN embedding SET STORAGE EXTERNAL;
ALTER TABLE user_memory RESET (toast_tuple_target);

ALTER TABLE user_memory
    -- The embedding in half precision: enough to rank by. Of a model with more dimensions the leading ones, which
    -- choose the memories that are then compared in full.
    ADD COLUMN search_vector halfvec GENERATED ALWAYS AS (
        CASE WHEN vector_dims(embedding) > 512 THEN subvector(embedding, 1, 512) ELSE embedding END::halfvec) STORED,
    ADD COLUMN search_terms sparsevec GENERATED ALWAYS AS (memory_term_vector(keywords)) STORED NOT NULL,
    ADD COLUMN fits_index boolean GENERATED ALWAYS AS (
        memory_fits_index(user_id, embedding_model, domains, keywords)) STORED NOT NULL;

CREATE INDEX user_memory_search ON user_memory (user_id)
    INCLUDE (id, embedding_model, valid_to, domains, search_vector, search_terms)
    WHERE superseded_by IS NULL AND fits_index;
CREATE INDEX user_memory_search_long ON user_memory (user_id) WHERE superseded_by IS NULL AND NOT fits_index;

-- An index entry is read without its row once the row's page is known to be visible to all, which vacuum notes.
ALTER TABLE user_memory SET (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);

CREATE VIEW searchable_memory AS
    SELECT id, user_id, embedding_model, valid_to, domains, search_vector, search_terms
      FROM user_memory WHERE superseded_by IS NULL AND fits_index
    UNION ALL
    SELECT id, user_id, embedding_model, valid_to, domains, search_vector, search_terms
      FROM user_memory WHERE superseded_by IS NULL AND NOT fits_index;

COMMENT ON VIEW searchable_memory IS 'What a search reads of the memories that nothing supersedes; filter by user.';
COMMENT ON COLUMN user_memory.search_vector IS 'The embedding, or its leading 512 dimensions, in half precision.';
COMMENT ON COLUMN user_memory.search_terms IS 'A one at the number of each term in keywords.';
