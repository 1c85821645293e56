-- Fold the finished turns of a thread: of each but the latest ones only its end stays, with all that was said.
-- Parameters: thread_id, namespace, kept (turns whose steps stay; the latest always does).
--
-- Messages are stored as differences, kept with the checkpoint that they were written from. Those of a folded turn
-- move to the end of the turn before it, in their order, which is where LangGraph itself puts them when it stores
-- a run only at its end. A turn from which somebody has branched off stays as it is, and so does one on whose
-- beginning two turns were built. Nothing happens while a turn runs on the thread. The walk ends where an earlier
-- folding began.
WITH RECURSIVE
    line AS (
        (
            SELECT checkpoint_id, parent_checkpoint_id, metadata ->> 'source' AS source, metadata ? 'folded' AS is_folded,
                1 AS age
            FROM checkpoints
            WHERE thread_id = %(thread_id)s AND checkpoint_ns = %(namespace)s
                AND NOT EXISTS (
                    SELECT FROM thread_lease WHERE thread_id = %(thread_id)s AND expires_at > now()
                )
            ORDER BY checkpoint_id DESC
            LIMIT 1
        )
        UNION ALL
        SELECT step.checkpoint_id, step.parent_checkpoint_id, step.metadata ->> 'source', step.metadata ? 'folded',
            line.age + 1
        FROM line
        JOIN checkpoints AS step
            ON step.thread_id = %(thread_id)s AND step.checkpoint_ns = %(namespace)s
            AND step.checkpoint_id = line.parent_checkpoint_id
        WHERE NOT line.is_folded
    ),
    -- the ends of turns, the latest first; the very first checkpoint stands for the end of what was before it
    turn_end AS (
        SELECT checkpoint_id, age, row_number() OVER (ORDER BY age) AS number,
            lead(checkpoint_id) OVER (ORDER BY age) AS before, lead(age) OVER (ORDER BY age) AS until
        FROM line
        WHERE line.parent_checkpoint_id IS NULL
            OR line.is_folded
            OR EXISTS (
                SELECT FROM line AS next WHERE next.parent_checkpoint_id = line.checkpoint_id AND next.source = 'input'
            )
    ),
    inside AS (
        SELECT line.checkpoint_id, line.age, turn_end.checkpoint_id AS turn_end, turn_end.before
        FROM turn_end
        JOIN line ON line.age > turn_end.age AND line.age < turn_end.until
        WHERE turn_end.number >= %(kept)s
    ),
    branched AS (
        SELECT inside.turn_end
        FROM inside
        JOIN checkpoints AS child
            ON child.thread_id = %(thread_id)s AND child.checkpoint_ns = %(namespace)s
            AND child.parent_checkpoint_id IN (inside.checkpoint_id, inside.before)
        WHERE child.checkpoint_id NOT IN (SELECT checkpoint_id FROM line)
    ),
    folded AS MATERIALIZED (
        SELECT * FROM inside WHERE turn_end NOT IN (SELECT turn_end FROM branched)
    ),
    gone AS (
        DELETE FROM checkpoints AS step
        USING folded
        WHERE step.thread_id = %(thread_id)s AND step.checkpoint_ns = %(namespace)s
            AND step.checkpoint_id = folded.checkpoint_id
        RETURNING step.checkpoint -> 'channel_versions' AS versions
    ),
    joined AS (
        UPDATE checkpoints AS step
        SET parent_checkpoint_id = folded.before,
            metadata = step.metadata || '{"folded": true}',
            -- at the end of a turn no step is waiting: what steps have seen, and the channels that call them, is of no use
            checkpoint = (step.checkpoint - 'updated_channels') || jsonb_build_object(
                'versions_seen', '{}'::jsonb,
                'channel_versions', (
                    SELECT jsonb_object_agg(version.key, version.value)
                    FROM jsonb_each(step.checkpoint -> 'channel_versions') AS version
                    WHERE version.key <> '__start__' AND version.key NOT LIKE 'branch:to:%%'
                )
            )
        FROM folded
        WHERE step.thread_id = %(thread_id)s AND step.checkpoint_ns = %(namespace)s
            AND step.checkpoint_id = folded.turn_end
    ),
    said AS (
        UPDATE checkpoint_writes AS write
        SET checkpoint_id = folded.before,
            task_path = '~folded ' || lpad((1000000 - folded.age)::text, 7, '0') || ' ' || write.task_path
        FROM folded
        JOIN checkpoints AS turn_end
            ON turn_end.thread_id = %(thread_id)s AND turn_end.checkpoint_ns = %(namespace)s
            AND turn_end.checkpoint_id = folded.turn_end
        WHERE write.thread_id = %(thread_id)s AND write.checkpoint_ns = %(namespace)s
            AND write.checkpoint_id = folded.checkpoint_id
            AND write.idx >= 0
            AND turn_end.metadata -> 'counters_since_delta_snapshot' ? write.channel
    ),
    outdated AS (
        DELETE FROM checkpoint_writes AS write
        USING folded
        JOIN checkpoints AS turn_end
            ON turn_end.thread_id = %(thread_id)s AND turn_end.checkpoint_ns = %(namespace)s
            AND turn_end.checkpoint_id = folded.turn_end
        WHERE write.thread_id = %(thread_id)s AND write.checkpoint_ns = %(namespace)s
            AND write.checkpoint_id = folded.checkpoint_id
            AND (
                write.idx < 0
                OR NOT coalesce(turn_end.metadata -> 'counters_since_delta_snapshot' ? write.channel, FALSE)
            )
    ),
    named AS (
        SELECT DISTINCT version.key AS channel, version.value AS version
        FROM gone, jsonb_each_text(gone.versions) AS version
        EXCEPT
        SELECT version.key, version.value
        FROM checkpoints AS step, jsonb_each_text(step.checkpoint -> 'channel_versions') AS version
        WHERE step.thread_id = %(thread_id)s AND step.checkpoint_ns = %(namespace)s
            AND step.checkpoint_id IN (
                SELECT checkpoint_id FROM line EXCEPT SELECT checkpoint_id FROM folded
            )
    ),
    value AS (
        DELETE FROM checkpoint_blobs AS value
        USING named
        WHERE value.thread_id = %(thread_id)s AND value.checkpoint_ns = %(namespace)s
            AND value.channel = named.channel AND value.version = named.version
    )
SELECT count(*) AS steps FROM folded
