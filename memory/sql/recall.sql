-- What matters to one user now, in one round trip: memories, this session's facts and summary, earlier sessions.
--
-- Exact within the user. `relevance` ranks: the cosine, and the share of what was asked (weighted by how rare each term
-- is among this user's memories) that the memory holds, normalised by its length as BM25 does. A memory told up to two
-- turns before or after one that is more relevant than most is lifted a little. `fit` is compared with the floor, and is
-- absolute, so that a floor means the same for every user: the cosine, and the plain share of the telling terms beyond
-- what chance gives, since a single rare word that happens to agree proves little (`doubt` is added to their number).
WITH term AS MATERIALIZED (
    SELECT min(number) AS number, min(text) AS text, bool_or(tells) AS tells, memory_term_number(text) AS term
      FROM unnest(%(terms)s::text[], %(telling)s::boolean[]) WITH ORDINALITY AS term (text, tells, number)
     GROUP BY term
),
question AS MATERIALIZED (
    -- a one-bit weight for each term; single precision carries 24 bits exactly, hence two vectors
    SELECT ('{' || coalesce(string_agg(term || ':' || (1 << (number - 1)::int), ',')
                            FILTER (WHERE number <= 24), '') || '}/268435456')::sparsevec AS first_terms,
           ('{' || string_agg(term || ':' || (1 << (number - 25)::int), ',')
                   FILTER (WHERE number > 24) || '}/268435456')::sparsevec AS further_terms,
           CASE WHEN vector_dims(%(vector)s::vector) > 512 THEN subvector(%(vector)s::vector, 1, 512)
                ELSE %(vector)s::vector END::halfvec AS vector
      FROM term
),
mine AS MATERIALIZED (
    -- `held` has bit n - 1 set where the memory holds term n
    SELECT id, source_thread_id, source_position, memory_type, importance, last_confirmed_at,
           l2_norm(search_terms) ^ 2 AS words,
           (-(search_terms <#> (SELECT first_terms FROM question))
            - coalesce((search_terms <#> (SELECT further_terms FROM question)) * 16777216, 0))::bigint AS held,
           CASE WHEN embedding_model = %(model)s
                THEN 1 - (search_vector <=> (SELECT vector FROM question)) END AS similarity
      FROM searchable_memory
     WHERE user_id = %(user_id)s
       AND (valid_to IS NULL OR valid_to > %(now)s)
       AND (%(domains)s::text[] IS NULL OR domains && %(domains)s::text[] OR domains = '{}')
),
alike AS MATERIALIZED (
    SELECT held, count(*) AS memories, sum(words) AS words, sum(similarity) AS similarity FROM mine GROUP BY held
),
size AS (
    -- a user of few memories is treated as one of fifty: what is rare cannot be told from less
    SELECT greatest(sum(memories), 50)::float8 AS memories, nullif(sum(words) / sum(memories), 0) AS words FROM alike
),
weight AS MATERIALIZED (
    -- an order number that no memory names says nothing about which of them fit
    SELECT number, tells, CASE WHEN holding = 0 AND text ~ '[0-9]' THEN 0
                        ELSE ln(1 + (size.memories - holding + 0.5) / (holding + 0.5)) END AS idf
      FROM (SELECT number, text, tells,
                   coalesce(sum(memories) FILTER (WHERE held >> (number - 1)::int & 1 = 1), 0) AS holding
              FROM term CROSS JOIN alike
             GROUP BY number, text, tells) AS counted
     CROSS JOIN size
),
covered AS MATERIALIZED (
    SELECT held, sum(idf) AS found, count(*) FILTER (WHERE idf > 0 AND tells) AS terms
      FROM alike JOIN weight ON held >> (number - 1)::int & 1 = 1
     GROUP BY held
),
asked AS MATERIALIZED (
    SELECT nullif(sum(idf), 0) AS all, count(*) FILTER (WHERE idf > 0 AND tells) AS terms FROM weight
),
typical AS MATERIALIZED (
    -- the mean relevance of this user's memories, lengths aside
    SELECT coalesce(sum(alike.memories * coalesce(found, 0)) / sum(alike.memories) / min(asked.all), 0)
           + %(similarity_weight)s * coalesce(sum(similarity) / sum(alike.memories), 0) AS relevance
      FROM alike LEFT JOIN covered USING (held) CROSS JOIN asked
),
matched AS (
    SELECT mine.*, coalesce(terms, 0) AS terms,
           coalesce(found, 0) * 2.2 / (1 + 1.2 * (0.6 + 0.4 * words / (SELECT words FROM size))) AS found
      FROM mine
      LEFT JOIN covered USING (held)
),
nearest AS (
    SELECT *
      FROM matched
     ORDER BY coalesce(found / (SELECT asked.all FROM asked), 0)
              + %(similarity_weight)s * coalesce(similarity, 0) DESC
     LIMIT 200
),
relevant AS (
    SELECT nearest.id, source_thread_id, nullif(source_position, 0) AS source_position, memory_type, importance,
           last_confirmed_at,
           coalesce(found / asked.all, 0) + %(similarity_weight)s * coalesce(exact.similarity, 0) AS relevance,
           CASE WHEN exact.similarity IS NULL THEN %(words_alone)s * nearest.terms / (asked.terms + %(doubt)s)
                ELSE exact.similarity
                     + %(terms_weight)s * greatest(nearest.terms / (asked.terms + %(doubt)s) - %(chance)s, 0)
                END AS fit
      FROM nearest
     CROSS JOIN LATERAL (
           SELECT CASE WHEN vector_dims(%(vector)s::vector) > 512 AND nearest.similarity IS NOT NULL
                       THEN (SELECT 1 - (embedding <=> %(vector)s::vector) FROM user_memory WHERE id = nearest.id)
                       ELSE nearest.similarity END AS similarity) AS exact
     CROSS JOIN asked
),
lifted AS (
    -- what was told in no turn has no neighbours; in a window of its own position NULL, it would have all of its kind
    SELECT *, CASE WHEN source_thread_id IS NOT NULL AND source_position IS NOT NULL
                   THEN greatest(relevance - (SELECT typical.relevance FROM typical), 0) END AS lift
      FROM relevant
),
ranked AS (
    SELECT id, fit,
           (relevance
            + %(next_weight)s * (coalesce(max(lift) OVER one_before, 0) + coalesce(max(lift) OVER one_after, 0))
            + %(second_weight)s * (coalesce(max(lift) OVER two_before, 0) + coalesce(max(lift) OVER two_after, 0)))
           * (1 - %(age_weight)s + %(age_weight)s * power(0.5::float8,
                greatest(extract(epoch FROM %(now)s - last_confirmed_at), 0)
                / (86400 * coalesce((%(half_lives)s::jsonb ->> memory_type)::float8, 180))))
           * (1 + %(importance_weight)s * (importance - 0.5)) AS score
      FROM lifted
    WINDOW told AS (PARTITION BY source_thread_id ORDER BY source_position),
           one_before AS (told RANGE BETWEEN 1 PRECEDING AND 1 PRECEDING),
           two_before AS (told RANGE BETWEEN 2 PRECEDING AND 2 PRECEDING),
           one_after AS (told RANGE BETWEEN 1 FOLLOWING AND 1 FOLLOWING),
           two_after AS (told RANGE BETWEEN 2 FOLLOWING AND 2 FOLLOWING)
),
recalled AS (
    SELECT * FROM ranked
     WHERE %(floor)s::float8 IS NULL OR fit >= %(floor)s
     ORDER BY score DESC
     LIMIT %(candidates)s
),
constraint_on AS (
    -- what can do harm when it is overlooked, whether it fits or not
    SELECT id, coalesce(fit, 0) AS fit, coalesce(score, 0) AS score
      FROM (SELECT id, importance, last_confirmed_at
              FROM user_memory
             WHERE %(thread_id)s::text IS NOT NULL
               AND user_id = %(user_id)s AND constrains IS NOT NULL AND superseded_by IS NULL
               AND (valid_to IS NULL OR valid_to > %(now)s)
             ORDER BY importance DESC, last_confirmed_at DESC
             LIMIT %(constraints)s) AS vital
      LEFT JOIN ranked USING (id)
),
snapshot AS MATERIALIZED (
    SELECT id, summary, created_at,
           CASE WHEN embedding_model = %(model)s
                THEN coalesce(1 - (embedding <=> %(vector)s::vector), 0) ELSE 0 END
           + %(terms_weight)s * greatest(
                (SELECT count(*) FILTER (WHERE text = ANY (tsvector_to_array(keywords))) / (count(*) + %(doubt)s)
                   FROM term WHERE tells) - %(chance)s, 0) AS fit
      FROM session_snapshot
     WHERE %(thread_id)s::text IS NOT NULL
       AND user_id = %(user_id)s AND is_active AND session_id <> %(thread_id)s
),
latest_snapshot AS (SELECT * FROM snapshot ORDER BY created_at DESC LIMIT 1),
fitting_snapshot AS (
    SELECT * FROM snapshot
     WHERE id <> ALL (SELECT id FROM latest_snapshot) AND fit >= coalesce(%(snapshot_floor)s::float8, 0)
     ORDER BY fit DESC
     LIMIT 1
)
SELECT
    (SELECT coalesce(jsonb_agg(jsonb_build_object(
                'id', id, 'key', memory_key, 'content', content, 'score', score, 'fit', fit,
                'domains', domains, 'type', memory_type, 'importance', importance,
                'confidence', confidence, 'updated_at', updated_at, 'thread_id', source_thread_id,
                'message_id', source_message_id, 'evidence', evidence, 'constrains', constrains,
                'place', place) ORDER BY place, score DESC), '[]')
       FROM (SELECT id, score, fit, 1 AS place FROM recalled
             UNION ALL
             SELECT id, score, fit, 2 FROM constraint_on) AS found
       JOIN user_memory USING (id)) AS memories,
    (SELECT jsonb_build_object('summary', summary, 'key_facts', key_facts, 'folded_until', folded_until)
       FROM session_memory WHERE thread_id = %(thread_id)s AND user_id = %(user_id)s) AS session,
    (SELECT coalesce(jsonb_object_agg(key, content ORDER BY said_at), '{}') FROM (
        SELECT fact_key AS key, content, said_at
          FROM session_fact WHERE thread_id = %(thread_id)s AND user_id = %(user_id)s
        UNION ALL
        SELECT memory_key, content, last_confirmed_at
          FROM user_memory
         WHERE source_thread_id = %(thread_id)s AND user_id = %(user_id)s AND superseded_by IS NULL
           AND memory_type <> 'state' AND (valid_to IS NULL OR valid_to > %(now)s)) AS fact) AS facts,
    (SELECT coalesce(jsonb_agg(summary), '[]') FROM (
        SELECT summary FROM latest_snapshot UNION ALL SELECT summary FROM fitting_snapshot) AS s) AS snapshots,
    (SELECT summary FROM user_memory_version
      WHERE user_id = %(user_id)s AND %(thread_id)s::text IS NOT NULL) AS user_summary
