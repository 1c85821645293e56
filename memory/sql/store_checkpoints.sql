-- Store what runs have produced: writes of tasks, marks (interrupts, errors, answers to them), values of channels, and
-- the checkpoints that name them. One statement, so that a checkpoint never stands without what belongs to it.
WITH
    outdated AS (
        DELETE FROM checkpoint_writes AS write
        USING unnest(
            %(old_thread_id)s::text[], %(old_checkpoint_ns)s::text[], %(old_checkpoint_id)s::text[],
            %(old_task_id)s::text[], %(old_idx)s::integer[]
        ) AS old (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
        WHERE write.thread_id = old.thread_id AND write.checkpoint_ns = old.checkpoint_ns
            AND write.checkpoint_id = old.checkpoint_id AND write.task_id = old.task_id AND write.idx = old.idx
    ),
    write AS (
        INSERT INTO checkpoint_writes (
            thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob
        )
        SELECT * FROM unnest(
            %(write_thread_id)s::text[], %(write_checkpoint_ns)s::text[], %(write_checkpoint_id)s::text[],
            %(write_task_id)s::text[], %(write_task_path)s::text[], %(write_idx)s::integer[],
            %(write_channel)s::text[], %(write_type)s::text[], %(write_blob)s::bytea[]
        )
        ON CONFLICT DO NOTHING
    ),
    mark AS (
        INSERT INTO checkpoint_writes (
            thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob
        )
        SELECT * FROM unnest(
            %(mark_thread_id)s::text[], %(mark_checkpoint_ns)s::text[], %(mark_checkpoint_id)s::text[],
            %(mark_task_id)s::text[], %(mark_task_path)s::text[], %(mark_idx)s::integer[],
            %(mark_channel)s::text[], %(mark_type)s::text[], %(mark_blob)s::bytea[]
        )
        ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) DO UPDATE
        SET channel = excluded.channel, type = excluded.type, blob = excluded.blob
    ),
    value AS (
        INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
        SELECT * FROM unnest(
            %(value_thread_id)s::text[], %(value_checkpoint_ns)s::text[], %(value_channel)s::text[],
            %(value_version)s::text[], %(value_type)s::text[], %(value_blob)s::bytea[]
        )
        ON CONFLICT DO NOTHING
    )
INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)
SELECT * FROM unnest(
    %(step_thread_id)s::text[], %(step_checkpoint_ns)s::text[], %(step_checkpoint_id)s::text[],
    %(step_parent_id)s::text[], %(step_checkpoint)s::jsonb[], %(step_metadata)s::jsonb[]
)
ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id) DO UPDATE
SET checkpoint = excluded.checkpoint, metadata = excluded.metadata
