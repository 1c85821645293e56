-- Which business and which prompts a model call was made with.

ALTER TABLE token_usage
    ADD COLUMN business text NOT NULL DEFAULT '',
    ADD COLUMN prompts  text NOT NULL DEFAULT '';

COMMENT ON COLUMN token_usage.business IS 'Name and version of the business; empty for calls booked before it was noted.';
COMMENT ON COLUMN token_usage.prompts IS 'Digest of the texts that models were given: prompts, instructions, tools.';
