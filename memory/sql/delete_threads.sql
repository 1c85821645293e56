-- Erase all that is stored of some threads. Parameter: their ids.
WITH
    thread AS (SELECT unnest(%s::text[]) AS thread_id),
    gone AS (DELETE FROM checkpoints USING thread WHERE checkpoints.thread_id = thread.thread_id RETURNING 1),
    blob AS (DELETE FROM checkpoint_blobs USING thread WHERE checkpoint_blobs.thread_id = thread.thread_id),
    write AS (DELETE FROM checkpoint_writes USING thread WHERE checkpoint_writes.thread_id = thread.thread_id)
SELECT count(*) AS erased FROM gone
