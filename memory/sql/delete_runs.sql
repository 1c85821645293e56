-- Undo runs: their checkpoints, the writes to them, and the values that no other checkpoint names. Parameter: run ids.
-- A history that a later run has built on stays whole, since its channels may be stored as differences.
WITH
    run AS MATERIALIZED (
        SELECT thread_id, checkpoint_ns, checkpoint_id, checkpoint
        FROM checkpoints WHERE metadata ->> 'run_id' = ANY (%s::text[])
    ),
    built_on AS (
        SELECT DISTINCT run.thread_id, run.checkpoint_ns
        FROM run
        JOIN checkpoints AS child
            ON child.thread_id = run.thread_id
            AND child.checkpoint_ns = run.checkpoint_ns
            AND child.parent_checkpoint_id = run.checkpoint_id
        WHERE NOT EXISTS (
            SELECT FROM run AS same
            WHERE (same.thread_id, same.checkpoint_ns, same.checkpoint_id)
                = (child.thread_id, child.checkpoint_ns, child.checkpoint_id)
        )
    ),
    gone AS (
        SELECT * FROM run
        WHERE NOT EXISTS (
            SELECT FROM built_on
            WHERE (built_on.thread_id, built_on.checkpoint_ns) = (run.thread_id, run.checkpoint_ns)
        )
    ),
    named AS (
        SELECT DISTINCT gone.thread_id, gone.checkpoint_ns, version.key AS channel, version.value AS version
        FROM gone, jsonb_each_text(gone.checkpoint -> 'channel_versions') AS version
    ),
    still_named AS (
        SELECT kept.thread_id, kept.checkpoint_ns, version.key AS channel, version.value AS version
        FROM checkpoints AS kept, jsonb_each_text(kept.checkpoint -> 'channel_versions') AS version
        WHERE (kept.thread_id, kept.checkpoint_ns) IN (SELECT thread_id, checkpoint_ns FROM gone)
            AND (kept.thread_id, kept.checkpoint_ns, kept.checkpoint_id)
                NOT IN (SELECT thread_id, checkpoint_ns, checkpoint_id FROM gone)
    ),
    blob AS (
        DELETE FROM checkpoint_blobs AS blob
        WHERE (blob.thread_id, blob.checkpoint_ns, blob.channel, blob.version) IN (
            SELECT * FROM named EXCEPT SELECT * FROM still_named
        )
    ),
    write AS (
        DELETE FROM checkpoint_writes AS write
        WHERE (write.thread_id, write.checkpoint_ns, write.checkpoint_id) IN (
            SELECT thread_id, checkpoint_ns, checkpoint_id FROM gone
        )
    )
DELETE FROM checkpoints AS checkpoint
WHERE (checkpoint.thread_id, checkpoint.checkpoint_ns, checkpoint.checkpoint_id) IN (
    SELECT thread_id, checkpoint_ns, checkpoint_id FROM gone
)
