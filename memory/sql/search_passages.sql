-- Passages of the business's documents: similarity and keywords, fused as in recall.
WITH hit AS MATERIALIZED (
    SELECT passage.id, term.number
      FROM knowledge_passage AS passage, unnest(%(terms)s::tsquery[]) WITH ORDINALITY AS term (query, number)
     WHERE passage.keywords @@ term.query
),
size AS (
    SELECT count(*) AS passages, nullif(avg(length(keywords)), 0) AS words FROM knowledge_passage
),
weight AS (
    SELECT number, ln(1 + (size.passages - count(hit.id) + 0.5) / (count(hit.id) + 0.5)) AS idf
      FROM generate_series(1, cardinality(%(terms)s::tsquery[])) AS number
      LEFT JOIN hit USING (number)
     CROSS JOIN size
     GROUP BY number, size.passages
),
covered AS (
    SELECT hit.id, sum(weight.idf) / (SELECT nullif(sum(idf), 0) FROM weight) AS share
      FROM hit JOIN weight USING (number)
     GROUP BY hit.id
)
SELECT content AS text, source, title,
       %(similarity_weight)s * CASE WHEN embedding_model = %(model)s
            THEN coalesce(1 - (embedding <=> %(vector)s::vector), 0) ELSE 0 END
       + coalesce(covered.share * 2.2 / (1 + 1.2 * (0.25 + 0.75 * length(keywords) / size.words)), 0) AS score
  FROM knowledge_passage
 CROSS JOIN size
  LEFT JOIN covered USING (id)
 ORDER BY score DESC
 LIMIT %(k)s
