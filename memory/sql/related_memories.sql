-- For each new item, the user's valid memories that may be about the same thing: by key, by meaning, by words.
WITH item AS (
    SELECT * FROM unnest(%(keys)s::text[], %(vectors)s::text[], %(queries)s::text[])
      WITH ORDINALITY AS item (key, vector, query, number)
),
related AS (
    SELECT item.number, found.id
      FROM item
     CROSS JOIN LATERAL (
        (SELECT id FROM user_memory
          WHERE user_id = %(user_id)s AND superseded_by IS NULL AND (valid_to IS NULL OR valid_to > %(now)s)
            AND memory_key = item.key)
        UNION
        (SELECT id FROM user_memory
          WHERE user_id = %(user_id)s AND superseded_by IS NULL AND (valid_to IS NULL OR valid_to > %(now)s)
            AND embedding_model = %(model)s AND item.vector IS NOT NULL
          ORDER BY embedding <=> item.vector::vector
          LIMIT 8)
        UNION
        (SELECT id FROM user_memory
          WHERE user_id = %(user_id)s AND superseded_by IS NULL AND (valid_to IS NULL OR valid_to > %(now)s)
            AND keywords @@ item.query::tsquery
          ORDER BY ts_rank(keywords, item.query::tsquery) DESC
          LIMIT 8)
     ) AS found
)
SELECT related.number, memory.id, memory.memory_key, memory.content, memory.memory_type, memory.last_confirmed_at,
       CASE WHEN memory.embedding_model = %(model)s
            THEN coalesce(1 - (memory.embedding <=> item.vector::vector), 0) ELSE 0 END AS similarity
  FROM related
  JOIN item USING (number)
  JOIN user_memory AS memory ON memory.id = related.id AND memory.user_id = %(user_id)s
