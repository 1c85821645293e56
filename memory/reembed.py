"""A change of the embedding model: refused at start, and carried out by a command.

Vectors of two models cannot be compared. Recall would go by keywords alone, silently; so the start says it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import LiteralString

from memory.database import Database
from memory.embeddings import Embedder, vector_literal
from memory.errors import ConfigurationError

BATCH = 200

OTHER_MODEL = """
SELECT embedding_model FROM user_memory
 WHERE superseded_by IS NULL AND (embedding_model < %(model)s OR embedding_model > %(model)s) LIMIT 1
"""
STALE: Sequence[tuple[LiteralString, LiteralString]] = (
    (
        "SELECT id, content AS text FROM user_memory WHERE superseded_by IS NULL"
        " AND embedding_model IS DISTINCT FROM %(model)s AND id > %(after)s ORDER BY id LIMIT %(limit)s",
        "UPDATE user_memory SET embedding = %(vector)s::vector, embedding_model = %(model)s WHERE id = %(id)s",
    ),
    (
        "SELECT id, summary AS text FROM session_snapshot WHERE is_active"
        " AND embedding_model IS DISTINCT FROM %(model)s AND id > %(after)s ORDER BY id LIMIT %(limit)s",
        "UPDATE session_snapshot SET embedding = %(vector)s::vector, embedding_model = %(model)s WHERE id = %(id)s",
    ),
    (
        "SELECT id, content AS text FROM knowledge_passage"
        " WHERE embedding_model <> %(model)s AND id > %(after)s ORDER BY id LIMIT %(limit)s",
        "UPDATE knowledge_passage SET embedding = %(vector)s::vector, embedding_model = %(model)s WHERE id = %(id)s",
    ),
)
FIRST = "00000000-0000-0000-0000-000000000000"


async def check_embedding_model(database: Database, embedder: Embedder) -> None:
    """Refuse to start on memories that another model embedded. Raises ConfigurationError."""
    row = await database.fetch_one(OTHER_MODEL, {"model": embedder.name})
    if row is not None:
        raise ConfigurationError(
            f"Memories were embedded by {row['embedding_model']}, but STEWARD_EMBEDDINGS names {embedder.name}. "
            "Run `steward worker --reembed` once to embed them anew, or set STEWARD_EMBEDDINGS back."
        )


async def reembed(database: Database, embedder: Embedder) -> int:
    """Embed anew whatever another model embedded, or none has yet; how many texts. Safe to run beside workers."""
    done = 0
    for select, update in STALE:
        after = FIRST
        while rows := await database.fetch(select, {"model": embedder.name, "after": after, "limit": BATCH}):
            vectors = await embedder.embed([row["text"] for row in rows])
            changes = [
                {"id": row["id"], "vector": vector_literal(vector), "model": embedder.name}
                for row, vector in zip(rows, vectors, strict=True)
            ]
            async with database.transaction() as connection, connection.cursor() as cursor:
                await cursor.executemany(update, changes)
            after = rows[-1]["id"]
            done += len(rows)
    return done
