-- For each new item, the user's valid memories that may be about the same thing: by key, or near in meaning, the
-- more so with a word in common. One pass over the user's memories an item.
WITH item AS MATERIALIZED (
    -- read once here: a cast of a column in the scan below would parse the vector again for every row
    SELECT number, key, vector::vector AS vector, query::tsquery AS query
      FROM unnest(%(keys)s::text[], %(vectors)s::text[], %(queries)s::text[])
      WITH ORDINALITY AS item (key, vector, query, number)
)
SELECT item.number, found.*
  FROM item
 CROSS JOIN LATERAL (
    (SELECT id, memory_key, content, memory_type, last_confirmed_at,
            CASE WHEN embedding_model = %(model)s
                 THEN coalesce(1 - (embedding <=> item.vector), 0) ELSE 0 END AS similarity
       FROM user_memory
      WHERE user_id = %(user_id)s AND superseded_by IS NULL AND (valid_to IS NULL OR valid_to > %(now)s)
        AND memory_key = item.key)
    UNION ALL
    (SELECT id, memory_key, content, memory_type, last_confirmed_at,
            CASE WHEN embedding_model = %(model)s
                 THEN coalesce(1 - (embedding <=> item.vector), 0) ELSE 0 END AS similarity
       FROM user_memory
      WHERE user_id = %(user_id)s AND superseded_by IS NULL AND (valid_to IS NULL OR valid_to > %(now)s)
        AND memory_key <> item.key
      ORDER BY CASE WHEN embedding_model = %(model)s
                    THEN coalesce(1 - (embedding <=> item.vector), 0) ELSE 0 END
               + CASE WHEN keywords @@ item.query THEN 0.3 ELSE 0 END DESC
      LIMIT 12)
 ) AS found
