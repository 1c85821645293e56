-- Lets every start find in one look whether some memory was embedded by another model.
CREATE INDEX user_memory_embedding_model ON user_memory (embedding_model) WHERE superseded_by IS NULL;
