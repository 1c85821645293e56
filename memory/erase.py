"""Erasing a user: everything that is kept of them, in one transaction, and the proof that nothing is left.

A turn that runs is waited for, and none begins meanwhile. Jobs in the queue go too. One that is running has the user's
words in its process; it finds the user marked as erased when it comes to write, and leaves nothing, and so does a job
that a turn queues later which had begun before.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString

from psycopg import sql

from memory.database import Connection, Database
from memory.leases import ThreadLeases
from memory.user_lock import checked_user_id, lock_user, mark_erased


@dataclass(frozen=True)
class Erasure:
    """What a package knows of a user beside long-term memory; parameters are `user_id` and `threads`."""

    threads: Sequence[LiteralString] = ()
    """Statements whose `thread_id` column names the user's threads."""
    statements: Sequence[LiteralString] = ()
    """Statements that erase or empty; `threads` is the list of all the user's threads by then."""


MEMORY = Erasure(
    threads=(
        "SELECT thread_id FROM session_memory WHERE user_id = %(user_id)s",
        "SELECT DISTINCT thread_id FROM session_turn WHERE user_id = %(user_id)s",
        "SELECT DISTINCT thread_id FROM session_fact WHERE user_id = %(user_id)s",
        "SELECT DISTINCT session_id AS thread_id FROM session_snapshot WHERE user_id = %(user_id)s",
        "SELECT DISTINCT source_thread_id AS thread_id FROM user_memory"
        " WHERE user_id = %(user_id)s AND source_thread_id IS NOT NULL",
        "SELECT DISTINCT args -> 'exchange' ->> 'thread_id' AS thread_id FROM procrastinate_jobs"
        " WHERE args ->> 'user_id' = %(user_id)s AND args ? 'exchange'",
        "SELECT DISTINCT args -> 'request' ->> 'thread_id' AS thread_id FROM procrastinate_jobs"
        " WHERE args ->> 'user_id' = %(user_id)s AND args ? 'request'",
    ),
    statements=(
        # a running job cannot be taken from its worker; it ends without having written
        "UPDATE procrastinate_jobs SET args = '{}', lock = NULL, queueing_lock = NULL"
        " WHERE args ->> 'user_id' = %(user_id)s AND status = 'doing'",
        "DELETE FROM procrastinate_jobs WHERE args ->> 'user_id' = %(user_id)s",
        "DELETE FROM user_memory WHERE user_id = %(user_id)s",
        "DELETE FROM user_memory_version WHERE user_id = %(user_id)s",
        "DELETE FROM session_fact WHERE user_id = %(user_id)s",
        "DELETE FROM session_turn WHERE user_id = %(user_id)s",
        "DELETE FROM session_snapshot WHERE user_id = %(user_id)s",
        "DELETE FROM session_memory WHERE user_id = %(user_id)s",
        "DELETE FROM checkpoint_writes WHERE thread_id = ANY(%(threads)s)",
        "DELETE FROM checkpoint_blobs WHERE thread_id = ANY(%(threads)s)",
        "DELETE FROM checkpoints WHERE thread_id = ANY(%(threads)s)",
    ),
)

PATIENCE = 300.0
"""Seconds for turns that run: longer than a turn takes, by the limits that are customary."""

COLUMNS = """
SELECT table_schema, table_name, column_name, data_type = 'bytea' AS is_bytes
  FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
 WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')
   AND udt_name NOT IN ('vector', 'bool', 'float4', 'float8', 'timestamptz', 'int2', 'int4')
 ORDER BY table_schema, table_name, ordinal_position
"""

IN_TEXT: LiteralString = """
SELECT FROM {table}
 WHERE position(%(needle)s IN {column}::text) > 0 OR position(%(escaped)s IN {column}::text) > 0
 LIMIT 1
"""
IN_BYTES: LiteralString = """
SELECT FROM {table}
 WHERE position(convert_to(%(needle)s, 'UTF8') IN {column}) > 0
    OR position(convert_to(%(escaped)s, 'UTF8') IN {column}) > 0
 LIMIT 1
"""


async def forget_user(database: Database, user_id: str, others: Sequence[Erasure] = ()) -> int:
    """Erase all that is kept of a user; how many rows that touched. `others` are the other packages' shares.

    Waits for the user's turns that run. Raises InvalidInput for what cannot be a user id, ThreadBusy where such a turn
    does not end. Erasing somebody unknown is no error.
    """
    checked_user_id(user_id)
    shares = [MEMORY, *others]
    leases = ThreadLeases(database)
    while True:
        async with database.connection() as connection:
            threads = await _threads(connection, user_id, shares)
        async with leases.hold_all(threads, patience=PATIENCE):
            touched = await _erase(database, user_id, shares, threads)
        if touched is not None:
            return touched


async def _erase(
    database: Database, user_id: str, shares: Sequence[Erasure], held: Sequence[str]
) -> int | None:
    """How many rows went; None, and nothing done, where the user has begun another thread than those that are held."""
    async with database.transaction() as connection:
        await lock_user(connection, user_id)
        threads = await _threads(connection, user_id, shares)
        if not set(threads) <= set(held):
            return None
        await mark_erased(connection, user_id)
        touched = 0
        for share in shares:
            for statement in share.statements:
                cursor = await connection.execute(statement, {"user_id": user_id, "threads": threads})
                touched += max(cursor.rowcount, 0)
        return touched


async def find_traces(database: Database, needle: str) -> list[str]:
    """Every `schema.table.column` of the database that holds the text anywhere, also inside JSON and blobs."""
    values = {"needle": needle, "escaped": json.dumps(needle, ensure_ascii=False)[1:-1]}
    found = []
    for column in await database.fetch(COLUMNS):
        schema, table, name = column["table_schema"], column["table_name"], column["column_name"]
        query = sql.SQL(IN_BYTES if column["is_bytes"] else IN_TEXT).format(
            table=sql.Identifier(schema, table), column=sql.Identifier(name)
        )
        if await database.fetch(query.as_string(), values):
            found.append(f"{schema}.{table}.{name}")
    return found


async def _threads(connection: Connection, user_id: str, shares: Sequence[Erasure]) -> list[str]:
    threads: set[str] = set()
    for share in shares:
        for statement in share.threads:
            cursor = await connection.execute(statement, {"user_id": user_id})
            threads.update(row["thread_id"] for row in await cursor.fetchall() if row["thread_id"])
    return sorted(threads)
