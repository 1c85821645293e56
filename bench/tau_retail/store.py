"""The retail data in Postgres: loading it, reading documents under lock, and what a task has changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from memory.database import Connection, Database

Document = dict[str, Any]

READ = "SELECT body FROM retail.record WHERE kind = %s AND id = %s"
LOCK = "SELECT body FROM retail.record WHERE kind = %s AND id = %s FOR UPDATE"
WRITE = "UPDATE retail.record SET body = %s WHERE kind = %s AND id = %s"
ALL = "SELECT id, body FROM retail.record WHERE kind = %s"
CHANGED = """
SELECT r.kind, r.id, r.body, o.body AS before FROM retail.record r JOIN retail.origin o USING (kind, id)
WHERE r.body::text <> o.body::text
"""
RESTORE = """
UPDATE retail.record r SET body = o.body FROM retail.origin o
WHERE o.kind = r.kind AND o.id = r.id AND o.body::text <> r.body::text
"""


async def load(database: Database, data: Mapping[str, Mapping[str, Document]]) -> None:
    """Fill both tables with the data set."""
    async with database.connection() as connection, connection.cursor() as cursor:
        for table in ("COPY retail.record FROM STDIN", "COPY retail.origin FROM STDIN"):
            async with cursor.copy(table) as copy:
                for kind, documents in data.items():
                    for id, body in documents.items():
                        await copy.write_row((kind, id, json.dumps(body)))


async def read(database: Database, kind: str, id: str) -> Document | None:
    row = await database.fetch_one(READ, (kind, id))
    return row["body"] if row else None


async def lock(connection: Connection, kind: str, id: str) -> Document | None:
    """A document that nobody else changes until the transaction ends."""
    row = await (await connection.execute(LOCK, (kind, id))).fetchone()
    return row["body"] if row else None


async def write(connection: Connection, kind: str, id: str, body: Document) -> None:
    await connection.execute(WRITE, (json.dumps(body), kind, id))


async def changed(database: Database) -> dict[str, dict[str, Document]]:
    """Every document that differs from the data set as loaded."""
    found: dict[str, dict[str, Document]] = {}
    for row in await database.fetch(CHANGED):
        if row["body"] != row["before"]:  # 20 and 20.0 differ as text alone
            found.setdefault(row["kind"], {})[row["id"]] = row["body"]
    return found


async def restore(database: Database) -> None:
    """Undo what a task has changed."""
    await database.execute(RESTORE)
