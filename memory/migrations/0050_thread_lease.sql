-- Which process is running a turn on a thread. A row whose time has run out, or whose process is dead, is free.
CREATE TABLE thread_lease (
    thread_id  text PRIMARY KEY,
    owner      text NOT NULL,
    expires_at timestamptz NOT NULL
);
