-- Every tool call: what was asked, what became of it, and for side effects the claim that keeps them from
-- happening twice.

CREATE TABLE tool_call (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    thread_id       text NOT NULL,
    turn_id         text NOT NULL,
    call_id         text NOT NULL,
    user_id         text NOT NULL,
    tool            text NOT NULL,
    arguments       jsonb NOT NULL,
    idempotency_key text,
    attempt         integer NOT NULL DEFAULT 1,
    status          text NOT NULL CHECK (status IN ('running', 'ok', 'error')),
    error_kind      text,
    result          jsonb,
    ref             text,
    signals         jsonb,
    identifiers     jsonb NOT NULL DEFAULT '[]',
    details         jsonb NOT NULL DEFAULT '[]',
    started_at      timestamptz NOT NULL DEFAULT now(),
    finished_at     timestamptz
);

COMMENT ON TABLE tool_call IS 'One row a tool call; retries of a call count up attempt.';
COMMENT ON COLUMN tool_call.idempotency_key IS
    'Holds a side effect: hash of user, thread, turn, tool and arguments. Null for calls without one, and given back '
    'by those that may be made again since nothing was done.';
COMMENT ON COLUMN tool_call.status IS
    'running is a claim: the side effect may be happening. Left behind by a crash, it is in doubt.';
COMMENT ON COLUMN tool_call.result IS 'The whole result, or the error as the model was told it.';
COMMENT ON COLUMN tool_call.ref IS 'Name under which the model can read parts of the result.';
COMMENT ON COLUMN tool_call.signals IS 'What the tool asked of the graph (a hand-over), for a turn that is resumed.';
COMMENT ON COLUMN tool_call.identifiers IS 'Objects of the user''s own that the result names; they ground later arguments.';
COMMENT ON COLUMN tool_call.details IS 'Contacts, addresses and amounts that the business knows; they ground later arguments.';

-- The claim of a side effect.
CREATE UNIQUE INDEX tool_call_effect ON tool_call (idempotency_key) WHERE idempotency_key IS NOT NULL;
-- A call has one row, however often it is tried.
CREATE UNIQUE INDEX tool_call_plain ON tool_call (thread_id, turn_id, call_id) WHERE idempotency_key IS NULL;
-- What a thread of a user has learnt, newest first; and erasing a user.
CREATE INDEX tool_call_thread ON tool_call (user_id, thread_id, id);
