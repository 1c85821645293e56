-- Store what runs have produced: writes of tasks, marks (interrupts, errors, answers to them), values of channels, and
-- the checkpoints that name them. One statement, so that a checkpoint never stands without what belongs to it; the last
-- one of a turn gives the thread back with it.
-- Rows come as JSON; the bytes of all of them follow each other in `bytes`, and each row says where its own are.
WITH
    outdated AS (
        DELETE FROM checkpoint_writes AS write
        USING jsonb_to_recordset(%(outdated)s) AS old (
            thread_id text, checkpoint_ns text, checkpoint_id text, task_id text, idx integer
        )
        WHERE write.thread_id = old.thread_id AND write.checkpoint_ns = old.checkpoint_ns
            AND write.checkpoint_id = old.checkpoint_id AND write.task_id = old.task_id AND write.idx = old.idx
    ),
    write AS (
        INSERT INTO checkpoint_writes (
            thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob
        )
        SELECT thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type,
            substring(%(bytes)s::bytea FROM first FOR length)
        FROM jsonb_to_recordset(%(writes)s) AS row (
            thread_id text, checkpoint_ns text, checkpoint_id text, task_id text, task_path text, idx integer,
            channel text, type text, first integer, length integer
        )
        ON CONFLICT DO NOTHING
    ),
    mark AS (
        INSERT INTO checkpoint_writes (
            thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob
        )
        SELECT thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type,
            substring(%(bytes)s::bytea FROM first FOR length)
        FROM jsonb_to_recordset(%(marks)s) AS row (
            thread_id text, checkpoint_ns text, checkpoint_id text, task_id text, task_path text, idx integer,
            channel text, type text, first integer, length integer
        )
        ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) DO UPDATE
        SET channel = excluded.channel, type = excluded.type, blob = excluded.blob
    ),
    value AS (
        INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
        SELECT thread_id, checkpoint_ns, channel, version, type,
            substring(%(bytes)s::bytea FROM first FOR length)
        FROM jsonb_to_recordset(%(values)s) AS row (
            thread_id text, checkpoint_ns text, channel text, version text, type text, first integer, length integer
        )
        ON CONFLICT DO NOTHING
    ),
    given_back AS (
        DELETE FROM thread_lease AS held
        USING jsonb_to_recordset(%(leases)s) AS lease (thread_id text, owner text)
        WHERE held.thread_id = lease.thread_id AND held.owner = lease.owner
    )
INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)
SELECT thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata
FROM jsonb_to_recordset(%(steps)s) AS row (
    thread_id text, checkpoint_ns text, checkpoint_id text, parent_checkpoint_id text, checkpoint jsonb, metadata jsonb
)
ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id) DO UPDATE
SET checkpoint = excluded.checkpoint, metadata = excluded.metadata
