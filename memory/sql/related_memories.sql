-- For each new item, the user's valid memories that may be about the same thing: by key, by the key that it is said to
-- replace, or near in meaning, the more so with a word in common. One pass over the user's memories an item.
WITH item AS MATERIALIZED (
    -- read once here: a cast of a column in the scan below would parse the vector again for every row
    SELECT number, key, replaced, vector::vector AS vector,
           CASE WHEN vector_dims(vector::vector) > 512 THEN subvector(vector::vector, 1, 512)
                ELSE vector::vector END::halfvec AS search_vector,
           memory_term_vector(array_to_tsvector(string_to_array(terms, ' '))) AS search_terms
      FROM unnest(%(keys)s::text[], %(replaced)s::text[], %(vectors)s::text[], %(terms)s::text[])
      WITH ORDINALITY AS item (key, replaced, vector, terms, number)
),
candidate AS (
    SELECT item.number, memory.id
      FROM item
      JOIN user_memory AS memory ON memory.memory_key = ANY (ARRAY[item.key, item.replaced])
     WHERE memory.user_id = %(user_id)s AND memory.superseded_by IS NULL
    UNION
    SELECT item.number, near.id
      FROM item
     CROSS JOIN LATERAL (
           SELECT id
             FROM searchable_memory
            WHERE user_id = %(user_id)s AND (valid_to IS NULL OR valid_to > %(now)s)
            ORDER BY CASE WHEN embedding_model = %(model)s
                          THEN coalesce(1 - (search_vector <=> item.search_vector), 0) ELSE 0 END
                     + CASE WHEN search_terms <#> item.search_terms < 0 THEN 0.3 ELSE 0 END DESC
            LIMIT 13) AS near
)
SELECT item.number, memory.id, memory.memory_key, memory.content, memory.memory_type, memory.last_confirmed_at,
       memory.evidence,
       CASE WHEN memory.embedding_model = %(model)s
            THEN coalesce(1 - (memory.embedding <=> item.vector), 0) ELSE 0 END AS similarity
  FROM candidate
  JOIN item USING (number)
  JOIN user_memory AS memory USING (id)
 WHERE memory.valid_to IS NULL OR memory.valid_to > %(now)s
 ORDER BY item.number, memory.memory_key <> item.key, similarity DESC
