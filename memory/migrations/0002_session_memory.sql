-- What is remembered of one session: its turns, facts, rolling summary and snapshots.

-- One row a thread.
CREATE TABLE session_memory (
    thread_id text PRIMARY KEY,
    user_id text COLLATE "C" NOT NULL,
    last_activity_at timestamptz NOT NULL DEFAULT now(),
    summary text NOT NULL DEFAULT '',
    key_facts jsonb NOT NULL DEFAULT '{}',
    folded_until text,
    folded_at timestamptz
);
CREATE INDEX session_memory_user ON session_memory (user_id);

-- One row a processed turn: a job that runs twice finds its mark and writes nothing. The masked words stay
-- until a snapshot covers them.
CREATE TABLE session_turn (
    thread_id text NOT NULL,
    turn_id text NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    customer text NOT NULL DEFAULT '',
    answer text NOT NULL DEFAULT '',
    said_at timestamptz NOT NULL,
    processed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (thread_id, turn_id)
);
CREATE INDEX session_turn_user ON session_turn (user_id);

-- What was said in this session and is not sure or lasting enough for long-term memory.
CREATE TABLE session_fact (
    thread_id text NOT NULL,
    fact_key text NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    content text NOT NULL,
    memory_type text NOT NULL,
    importance real NOT NULL DEFAULT 0.5,
    confidence real NOT NULL DEFAULT 1,
    domains text[] NOT NULL DEFAULT '{}',
    evidence text NOT NULL DEFAULT '',
    source_message_id text,
    said_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (thread_id, fact_key)
);
CREATE INDEX session_fact_user ON session_fact (user_id);

CREATE TABLE session_snapshot (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    session_id text NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    summary text NOT NULL,
    key_facts jsonb NOT NULL DEFAULT '{}',
    token_estimate integer NOT NULL,
    covers_until timestamptz NOT NULL,
    embedding vector,
    embedding_model text,
    keywords tsvector NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    is_active boolean NOT NULL DEFAULT true
);
CREATE UNIQUE INDEX session_snapshot_active ON session_snapshot (session_id) WHERE is_active;
CREATE INDEX session_snapshot_user ON session_snapshot (user_id, created_at DESC) WHERE is_active;
