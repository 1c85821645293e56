-- A checkpoint with the values that it names and the writes of its tasks, as LangGraph's saver reads it; the saver adds
-- the condition. Each value is looked up on its own (LATERAL, not to be joined otherwise): read whole and joined, the
-- thread's values would make a long conversation slow.
SELECT
    thread_id, checkpoint, checkpoint_ns, checkpoint_id, parent_checkpoint_id, metadata,
    (
        SELECT array_agg(ARRAY[value.channel::bytea, value.type::bytea, value.blob])
        FROM jsonb_each_text(checkpoint -> 'channel_versions') AS named (channel, version)
        CROSS JOIN LATERAL (
            SELECT channel, type, blob
            FROM checkpoint_blobs
            WHERE checkpoint_blobs.thread_id = checkpoints.thread_id
                AND checkpoint_blobs.checkpoint_ns = checkpoints.checkpoint_ns
                AND checkpoint_blobs.channel = named.channel AND checkpoint_blobs.version = named.version
            OFFSET 0
        ) AS value
    ) AS channel_values,
    (
        SELECT array_agg(ARRAY[
            write.task_id::bytea, write.channel::bytea, write.type::bytea, write.blob,
            convert_to(write.task_path, 'UTF8'), write.idx::text::bytea
        ])
        FROM checkpoint_writes AS write
        WHERE write.thread_id = checkpoints.thread_id AND write.checkpoint_ns = checkpoints.checkpoint_ns
            AND write.checkpoint_id = checkpoints.checkpoint_id
    ) AS pending_writes
FROM checkpoints
