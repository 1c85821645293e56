-- The token ledger: one row for each model request that was answered.

CREATE TABLE token_usage (
    id                uuid PRIMARY KEY,
    thread_id         text NOT NULL,
    turn_id           text NOT NULL,
    user_id           text NOT NULL,
    node              text NOT NULL,
    role              text NOT NULL,
    model             text NOT NULL,
    instructions      integer NOT NULL,
    memory            integer NOT NULL,
    tools             integer NOT NULL,
    history           integer NOT NULL,
    output            integer NOT NULL,
    prompt_tokens     integer NOT NULL,
    completion_tokens integer NOT NULL,
    cached_tokens     integer NOT NULL,
    reasoning_tokens  integer NOT NULL,
    estimated         boolean NOT NULL,
    cost              numeric,
    created_at        timestamptz NOT NULL
);

COMMENT ON COLUMN token_usage.id IS 'Made by the writer, so that a batch written again after a lost connection counts once.';
COMMENT ON COLUMN token_usage.turn_id IS 'Empty for work that belongs to no turn, such as summaries.';
COMMENT ON COLUMN token_usage.instructions IS 'This and the next three: the prompt''s tokens by class, in estimated proportions.';
COMMENT ON COLUMN token_usage.cached_tokens IS 'Part of the prompt that the endpoint had in its cache.';
COMMENT ON COLUMN token_usage.reasoning_tokens IS 'Part of the completion that nobody sees.';
COMMENT ON COLUMN token_usage.estimated IS 'The endpoint gave no figures; the tokens are counted here.';
COMMENT ON COLUMN token_usage.cost IS 'In the currency of the price file; null where it does not know the model.';

CREATE INDEX token_usage_thread ON token_usage (thread_id, created_at);
CREATE INDEX token_usage_user ON token_usage (user_id, created_at);
CREATE INDEX token_usage_day ON token_usage (created_at);
