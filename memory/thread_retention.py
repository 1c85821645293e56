"""Threads that nobody has gone on with for long, and their end."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from memory.database import Database
from memory.sql_file import read_sql

DELETE_THREADS = read_sql("delete_threads.sql")
EXPIRED_THREADS = """
SELECT thread_id
FROM checkpoints
GROUP BY thread_id
HAVING max((checkpoint ->> 'ts')::timestamptz) < %s
ORDER BY thread_id
LIMIT %s
"""


async def delete_threads(database: Database, thread_ids: Sequence[str]) -> int:
    """Erase every checkpoint of the threads; the number of checkpoints erased."""
    row = await database.fetch_one(DELETE_THREADS, (list(thread_ids),))
    return int(row["erased"]) if row else 0


async def expired_threads(database: Database, *, days: int, limit: int = 1000) -> list[str]:
    """Threads whose last checkpoint is older than so many days."""
    before = datetime.now(UTC) - timedelta(days=days)
    return [row["thread_id"] for row in await database.fetch(EXPIRED_THREADS, (before, limit))]
