-- What is remembered of a user across sessions, and what keeps its writing safe.

-- One fact a row. A row that was replaced keeps its place for audit: superseded_by names its successor.
CREATE TABLE user_memory (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    user_id text COLLATE "C" NOT NULL,
    memory_key text NOT NULL,
    content text NOT NULL,
    embedding vector,
    embedding_model text,
    keywords tsvector NOT NULL DEFAULT '',
    memory_type text NOT NULL CHECK (memory_type IN ('fact', 'preference', 'decision', 'state')),
    importance real NOT NULL DEFAULT 0.5 CHECK (importance BETWEEN 0 AND 1),
    confidence real NOT NULL DEFAULT 1 CHECK (confidence BETWEEN 0 AND 1),
    domains text[] NOT NULL DEFAULT '{}',
    scene jsonb NOT NULL DEFAULT '{}',
    evidence text NOT NULL DEFAULT '',
    source_thread_id text,
    source_message_id text,
    source_position integer,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    last_confirmed_at timestamptz NOT NULL DEFAULT now(),
    valid_from timestamptz NOT NULL DEFAULT now(),
    valid_to timestamptz,
    superseded_by uuid
);

COMMENT ON COLUMN user_memory.scene IS 'Intents and object that it was said about.';
COMMENT ON COLUMN user_memory.evidence IS 'The user''s own words, masked.';
COMMENT ON COLUMN user_memory.source_position IS 'Number of the turn within its thread: neighbours belong together.';

-- Vectors stay in the row where they fit: a scan over one user then reads no second table.
ALTER TABLE user_memory ALTER COLUMN embedding SET STORAGE MAIN;
ALTER TABLE user_memory ALTER COLUMN keywords SET STORAGE MAIN;
ALTER TABLE user_memory SET (toast_tuple_target = 8160);

-- Search is exact within one user. An approximate index, filtered by user afterwards, loses rows.
CREATE UNIQUE INDEX user_memory_current ON user_memory (user_id, memory_key) WHERE superseded_by IS NULL;
CREATE INDEX user_memory_history ON user_memory (user_id, memory_key) WHERE superseded_by IS NOT NULL;
CREATE INDEX user_memory_source ON user_memory (source_thread_id) WHERE superseded_by IS NULL;

-- Goes up whenever a user's memories change; a cached summary of the user names the version it was made of.
CREATE TABLE user_memory_version (
    user_id text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL DEFAULT 0,
    summary text,
    summary_version bigint,
    summary_at timestamptz
);

-- Users that were erased, by hash alone: a job queued before `last_job_id` was drawn must write nothing.
CREATE TABLE erased_user (
    user_hash text PRIMARY KEY,
    last_job_id bigint NOT NULL,
    erased_at timestamptz NOT NULL DEFAULT now()
);
