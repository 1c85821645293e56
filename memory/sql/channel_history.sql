-- What a channel that is stored as differences is made of at a checkpoint: the latest whole value on the way back to the
-- thread's beginning, and what was written since, the oldest first. The written bytes follow each other in one value.
-- Each step is looked up on its own (LATERAL with a limit), whatever the planner thinks of the thread's length: read for
-- every step, the thread's rows would make a long conversation slow. The way ends at a checkpoint that the reader knows.
-- Parameters: thread_id, namespace, checkpoint_id, channel, known (a checkpoint, or '').
WITH RECURSIVE
    stored AS MATERIALIZED (
        SELECT version
        FROM checkpoint_blobs
        WHERE thread_id = %(thread_id)s AND checkpoint_ns = %(namespace)s AND channel = %(channel)s AND type <> 'empty'
    ),
    line AS (
        SELECT checkpoint_id, parent_checkpoint_id, FALSE AS is_whole, 0 AS age, NULL::text AS version
        FROM checkpoints
        WHERE thread_id = %(thread_id)s AND checkpoint_ns = %(namespace)s AND checkpoint_id = %(checkpoint_id)s
        UNION ALL
        SELECT step.checkpoint_id, step.parent_checkpoint_id,
            step.is_marked OR step.version IS NOT NULL, line.age + 1, step.version
        FROM line
        CROSS JOIN LATERAL (
            SELECT checkpoint_id, parent_checkpoint_id,
                checkpoint -> 'channel_values' ? %(channel)s AS is_marked,
                (SELECT version FROM stored
                WHERE version = checkpoint -> 'channel_versions' ->> %(channel)s) AS version
            FROM checkpoints
            WHERE thread_id = %(thread_id)s AND checkpoint_ns = %(namespace)s
                AND checkpoint_id = line.parent_checkpoint_id
            LIMIT 1
        ) AS step
        WHERE NOT line.is_whole AND line.checkpoint_id <> %(known)s
    ),
    written AS (
        SELECT array_agg(task_id) AS tasks, array_agg(type) AS types, array_agg(length(blob)) AS lengths,
            string_agg(blob, ''::bytea) AS bytes
        FROM (
            SELECT write.task_id, write.type, write.blob
            FROM line
            CROSS JOIN LATERAL (
                SELECT task_id, task_path, idx, type, blob
                FROM checkpoint_writes
                WHERE thread_id = %(thread_id)s AND checkpoint_ns = %(namespace)s
                    AND checkpoint_id = line.checkpoint_id AND channel = %(channel)s
                OFFSET 0
            ) AS write
            WHERE line.age > 0
            ORDER BY line.age DESC, write.task_path COLLATE "C", write.task_id COLLATE "C", write.idx
        ) AS write
    ),
    whole AS (
        SELECT line.version IS NULL AS is_inline, value.type, value.blob
        FROM line
        LEFT JOIN checkpoint_blobs AS value
            ON value.thread_id = %(thread_id)s AND value.checkpoint_ns = %(namespace)s
            AND value.channel = %(channel)s AND value.version = line.version
        WHERE line.is_whole
    )
SELECT tasks, types, lengths, bytes, whole.type AS seed_type, whole.blob AS seed,
    coalesce(whole.is_inline, FALSE) AS seed_is_inline,
    (SELECT bool_or(checkpoint_id = %(known)s) AND NOT bool_or(is_whole) FROM line) AS goes_back_to_known
FROM written
LEFT JOIN whole ON TRUE
