"""What of the storage works, what does not, and how to mend it: for the doctor command and for readiness."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memory.business_schema import FIRST
from memory.database import Database, open_database
from memory.errors import StewardError
from memory.migrate import pending
from memory.settings import MemorySettings

LEAST_FREE_BYTES = 500_000_000
LONGEST_WAIT_SECONDS = 600.0
START_SECONDS = 2.0

SERVER = """
SELECT current_setting('server_version') AS version, current_setting('transaction_read_only') = 'on' AS read_only
"""
VECTOR = "SELECT extversion AS version FROM pg_extension WHERE extname = 'vector'"
QUEUE = """
SELECT count(*) FILTER (WHERE status = 'todo' AND due <= now()) AS waiting,
       count(*) FILTER (WHERE status = 'todo' AND attempts > 0) AS tried,
       count(*) FILTER (WHERE status = 'failed') AS failed,
       coalesce(max(extract(epoch FROM now() - due)) FILTER (WHERE status = 'todo' AND due <= now()), 0)::float
           AS longest
FROM (
    SELECT status, attempts, coalesce(
        scheduled_at, (SELECT min(at) FROM procrastinate_events AS event WHERE event.job_id = job.id), now()
    ) AS due
    FROM procrastinate_jobs AS job
    WHERE status IN ('todo', 'failed')
) AS job
"""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `cure` says what to do when it is not `ok`."""

    name: str
    ok: bool
    detail: str
    cure: str = ""


async def check(
    settings: MemorySettings, folders: Sequence[tuple[str, Path]], business: str | None = None
) -> list[Finding]:
    """Look at everything, from outside: opens the database that the settings name and closes it again.

    `folders` are the migrations as `migrate` takes them, `business` is the one whose tables are looked at. Never
    raises on account of what it finds.
    """
    try:
        async with open_database(settings, business, start_seconds=START_SECONDS) as database:
            findings = await check_database(database, folders)
    except StewardError as error:
        findings = [Finding("database", False, "not usable", str(error))]
    return [*findings, await asyncio.to_thread(_disk, settings.steward_home)]


async def check_database(database: Database, folders: Sequence[tuple[str, Path]]) -> list[Finding]:
    """Look at an open database: does it answer, is its schema current, does the queue move."""
    started = time.perf_counter()
    try:
        server = await database.fetch_one(SERVER)
    except StewardError as error:
        return [Finding("database", False, "does not answer", str(error))]
    milliseconds = (time.perf_counter() - started) * 1000
    version = server["version"] if server else "unknown"
    if server and server["read_only"]:
        cure = "point DATABASE_URL at the primary, or lift the restriction"
        return [Finding("database", False, f"{database.address} is read-only", cure)]
    answers = Finding("database", True, f"Postgres {version} at {database.address}, {milliseconds:.0f} ms")
    schema = await _schema(database, folders)
    findings = [answers, await _vector(database), schema]
    return [*findings, await _queue(database)] if schema.ok else findings


async def _vector(database: Database) -> Finding:
    found = await database.fetch_one(VECTOR)
    if found is None:
        cure = "start the agent once, as a database user who may run CREATE EXTENSION vector"
        return Finding("pgvector", False, "not installed in this database", cure)
    return Finding("pgvector", True, f"version {found['version']}")


async def _schema(database: Database, folders: Sequence[tuple[str, Path]]) -> Finding:
    try:
        missing = await pending(database, folders)
    except StewardError as error:
        return Finding("schema", False, "does not fit this version", str(error))
    if missing:
        detail = f"{len(missing)} migrations are missing, the first is {missing[0]}"
        return Finding("schema", False, detail, "start the agent once: it applies them")
    place = "" if database.schema == FIRST else f", in {database.schema}"
    return Finding("schema", True, f"current{place}")


async def _queue(database: Database) -> Finding:
    found = await database.fetch_one(QUEUE)
    assert found is not None  # counts without GROUP BY give exactly one row
    again = f", {found['tried']} failed before and wait for another try" if found["tried"] else ""
    detail = f"{found['waiting']} jobs due{again}, {found['failed']} failed"
    longest = found["longest"]
    if longest > LONGEST_WAIT_SECONDS:
        cure = "no worker takes them: run `steward worker`, or set STEWARD_WORKER=inline"
        return Finding("queue", False, f"{detail}, the oldest waits for {longest / 60:.0f} minutes", cure)
    return Finding("queue", True, detail)


def _disk(home: Path) -> Finding:
    """Room where the embedded database and other local data live; the folder itself may not exist yet."""
    place = home.expanduser().absolute()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    detail = f"{free / 1e9:.1f} GB free for {home}"
    if free < LEAST_FREE_BYTES:
        return Finding("disk", False, detail, "make room, or move STEWARD_HOME to a larger disk")
    return Finding("disk", True, detail)
