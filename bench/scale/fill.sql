-- Memories for every user: each of two sentences put together, so that no two are alike, and its vector the mean of
-- theirs. In random order, as many users' memories come in over a year. Four told in a row share a thread.
INSERT INTO user_memory (
    user_id, memory_key, content, embedding, embedding_model, keywords, memory_type, importance, domains,
    source_thread_id, source_message_id, source_position, last_confirmed_at, valid_from)
SELECT user_id, 'memory_' || nth, one.content || ' ' || other.content,
       l2_normalize(one.embedding + other.embedding), %(model)s, one.keywords || other.keywords,
       (ARRAY['fact', 'preference', 'decision'])[1 + nth %% 3], 0.3 + 0.1 * (nth %% 5), '{general}',
       user_id || ' ' || nth / 4, user_id || ' ' || nth, 1 + nth %% 4,
       %(now)s - interval '1 day' * (365 * random()), %(now)s - interval '366 days'
  FROM (SELECT user_id, nth, random() AS turn, floor(%(sentences)s * random())::int AS first,
               floor(%(sentences)s * random())::int AS second
          FROM unnest(%(users)s::text[], %(sizes)s::int[]) AS person (user_id, size)
         CROSS JOIN LATERAL generate_series(1, size) AS nth
        OFFSET 0) AS place
  JOIN sentence AS one ON one.number = place.first
  JOIN sentence AS other ON other.number = place.second
 ORDER BY place.turn
