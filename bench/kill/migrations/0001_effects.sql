-- What the tools under test have done to the world: one row for each time that one of them took effect.
CREATE SCHEMA proof;
CREATE TABLE proof.effect (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    thread_id text NOT NULL,
    tool text NOT NULL,
    item text NOT NULL,
    idempotency_key text NOT NULL,
    happened_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX ON proof.effect (thread_id);
