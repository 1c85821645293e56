-- Copy a thread: checkpoints, the values they name, and their pending writes.
WITH
    blob AS (
        INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
        SELECT %(target)s, checkpoint_ns, channel, version, type, blob
        FROM checkpoint_blobs WHERE thread_id = %(source)s
        ON CONFLICT DO NOTHING
    ),
    write AS (
        INSERT INTO checkpoint_writes (
            thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob, task_path
        )
        SELECT %(target)s, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob, task_path
        FROM checkpoint_writes WHERE thread_id = %(source)s
        ON CONFLICT DO NOTHING
    )
INSERT INTO checkpoints (
    thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata
)
SELECT
    %(target)s, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,
    CASE
        WHEN metadata ? 'thread_id' THEN jsonb_set(metadata, '{thread_id}', to_jsonb(%(target)s::text))
        ELSE metadata
    END
FROM checkpoints WHERE thread_id = %(source)s
ON CONFLICT DO NOTHING
