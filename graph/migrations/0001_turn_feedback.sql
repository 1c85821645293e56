-- What a customer, or staff, thought of an answer.

CREATE TABLE turn_feedback (
    turn_id    text PRIMARY KEY,
    thread_id  text NOT NULL,
    user_id    text NOT NULL,
    rating     text NOT NULL CHECK (rating IN ('good', 'bad')),
    reason     text NOT NULL DEFAULT '',
    by_role    text NOT NULL CHECK (by_role IN ('customer', 'staff')),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);

COMMENT ON TABLE turn_feedback IS 'One row a turn: a later word replaces the earlier one.';
COMMENT ON COLUMN turn_feedback.user_id IS 'The customer of the turn.';
COMMENT ON COLUMN turn_feedback.reason IS 'In their words, with personal data masked.';

CREATE INDEX turn_feedback_user ON turn_feedback (user_id);
CREATE INDEX token_usage_turn ON token_usage (turn_id);
