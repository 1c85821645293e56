INSERT INTO user_memory (
    id, user_id, memory_key, content, embedding, embedding_model, keywords, memory_type, importance, confidence,
    domains, scene, evidence, source_thread_id, source_message_id, source_position,
    created_at, updated_at, last_confirmed_at, valid_from, valid_to, superseded_by, constrains)
VALUES (
    %(id)s, %(user_id)s, %(key)s, %(content)s, %(vector)s::vector, %(model)s, array_to_tsvector(%(keywords)s::text[]),
    %(type)s, %(importance)s, %(confidence)s, %(domains)s, %(scene)s, %(evidence)s, %(thread_id)s, %(message_id)s,
    %(position)s, %(said_at)s, %(said_at)s, %(said_at)s, %(said_at)s, %(valid_to)s, %(superseded_by)s,
    %(constrains)s)
