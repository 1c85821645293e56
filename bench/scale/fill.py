"""Fills a database with memories of many users, some of whom have very many."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from memory.database import Database
from memory.embeddings import Embedder, vector_literal
from memory.keywords import terms

FILL = (Path(__file__).parent / "fill.sql").read_text(encoding="utf-8")
SENTENCES = """
CREATE TEMPORARY TABLE sentence (number int PRIMARY KEY, content text, embedding vector, keywords tsvector)
"""
SENTENCE = "INSERT INTO sentence VALUES (%s, %s, %s::vector, array_to_tsvector(%s::text[]))"


def zipf_sizes(memories: int, users: int, largest: int) -> list[int]:
    """How many memories each user has, the largest first: `largest / rank ** s` with the s that adds up.

    >>> zipf_sizes(100, 4, 50)
    [50, 24, 15, 11]
    """
    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        total = sum(largest / rank**middle for rank in range(1, users + 1))
        low, high = (middle, high) if total > memories else (low, middle)
    sizes = [max(round(largest / rank**low), 1) for rank in range(1, users + 1)]
    return sizes


async def fill(
    database: Database,
    embedder: Embedder,
    sentences: Sequence[str],
    people: Sequence[tuple[str, int]],
    now: datetime,
) -> None:
    """Give each of `people` (user id, number of memories) their memories, told in the year before `now`."""
    vectors = await embedder.embed(sentences)
    rows = [
        (number, text, vector_literal(vector), terms(text))
        for number, (text, vector) in enumerate(zip(sentences, vectors, strict=True))
    ]
    async with database.transaction() as connection, connection.cursor() as cursor:
        await cursor.execute("SET LOCAL statement_timeout = 0")
        await cursor.execute(SENTENCES)
        await cursor.executemany(SENTENCE, rows)
        await cursor.execute("ANALYZE sentence")
        values = {
            "model": embedder.name,
            "now": now,
            "sentences": len(sentences),
            "users": [user for user, _ in people],
            "sizes": [size for _, size in people],
        }
        await cursor.execute(FILL, values)
        await cursor.execute("DROP TABLE sentence")
    await _vacuum(database)


async def _vacuum(database: Database) -> None:
    async with database.connection() as connection:
        await connection.execute("SET statement_timeout = 0")
        await connection.execute("VACUUM ANALYZE user_memory")
        await connection.execute("RESET statement_timeout")
