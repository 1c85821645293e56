-- The latest conversations are found from the newest checkpoint backwards, however many there are.

CREATE INDEX checkpoints_latest ON checkpoints (checkpoint_id DESC) WHERE checkpoint_ns = '';
-- Threads that are with a person.
CREATE INDEX checkpoint_blobs_handoff ON checkpoint_blobs (thread_id, version)
    WHERE channel = 'handoff' AND checkpoint_ns = '';
