-- Names of a session's key facts, the one confirmed last at the end: when there are too many, the oldest go first.
ALTER TABLE session_memory ADD COLUMN fact_order text[] NOT NULL DEFAULT '{}';
