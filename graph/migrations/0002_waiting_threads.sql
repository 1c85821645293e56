-- Threads that wait for a decision are found without reading every checkpoint.

CREATE INDEX checkpoint_writes_interrupt ON checkpoint_writes (thread_id, checkpoint_id)
    WHERE channel = '__interrupt__' AND checkpoint_ns = '';
