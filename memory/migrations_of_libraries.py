"""The tables of the libraries that live in the same database: pgvector, LangGraph's checkpoints, the job queue."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from langgraph.checkpoint.postgres.base import BasePostgresSaver
from procrastinate.schema import SchemaManager

from memory.database import Connection
from memory.migration import Migration

EXTENSION = "extension"
CHECKPOINTS = "langgraph"
CHECKPOINT_INDEXES = "checkpoint_index"
QUEUE = "procrastinate"
QUEUE_FILE = re.compile(r"(\d\d)\.(\d\d)\.(\d\d)_(\d\d)_(.+)\.sql")


# LangGraph has no index for the run that a checkpoint belongs to, by which the server rolls back.
RUN_INDEX = """
CREATE INDEX IF NOT EXISTS checkpoints_run_id_idx ON checkpoints ((metadata ->> 'run_id'))
    WHERE metadata ->> 'run_id' IS NOT NULL
"""


# LangGraph's indexes by thread alone give nothing that the primary keys, which begin with the thread, do not; they cost
# every write its time, and a plan that takes one of them reads the whole thread for each of its rows.
REDUNDANT_INDEXES = """
DROP INDEX IF EXISTS checkpoints_thread_id_idx, checkpoint_blobs_thread_id_idx, checkpoint_writes_thread_id_idx
"""


@cache
def library_migrations() -> tuple[Migration, ...]:
    """In the order in which they have to be applied. Reads files: call it in a thread."""
    vector = Migration(EXTENSION, 1, "vector", "CREATE EXTENSION IF NOT EXISTS vector", own=False)
    run_index = Migration(CHECKPOINT_INDEXES, 1, "run_id", RUN_INDEX, own=False)
    no_index = Migration(CHECKPOINT_INDEXES, 2, "redundant", REDUNDANT_INDEXES, own=False)
    return (vector, *_checkpoints(), run_index, no_index, *_queue())


async def record_for_library(connection: Connection, migration: Migration) -> None:
    """LangGraph's set-up keeps its own record; with it, a later `setup()` finds nothing to do."""
    if migration.package == CHECKPOINTS:
        await connection.execute(
            "INSERT INTO checkpoint_migrations (v) VALUES (%s) ON CONFLICT DO NOTHING", (migration.number,)
        )


def _checkpoints() -> list[Migration]:
    """LangGraph's own list. Concurrent index builds cannot run in a transaction, which the lock needs."""
    return [
        Migration(CHECKPOINTS, number, "checkpoints", sql.replace("INDEX CONCURRENTLY", "INDEX"), own=False)
        for number, sql in enumerate(BasePostgresSaver.MIGRATIONS)
    ]


def _queue() -> list[Migration]:
    """The queue's own files from the first on; their numbers are version and counter: 03.04.00_50 is 3040050."""
    migrations = []
    for path in sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql")):
        match = QUEUE_FILE.fullmatch(path.name)
        assert match is not None, path.name
        number = int("".join(match.groups()[:4]))
        migrations.append(Migration(QUEUE, number, match[5], path.read_text(encoding="utf-8"), own=False))
    return migrations
