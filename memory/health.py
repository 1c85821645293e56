"""What of the storage works, what does not, and how to mend it: for the doctor command and for readiness."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psycopg

from memory.business_schema import FIRST
from memory.database import Database, open_database
from memory.encryption_health import check_encryption
from memory.errors import StewardError
from memory.findings import Finding
from memory.migrate import ADD_VECTOR, INSTALL_VECTOR, pending
from memory.settings import MemorySettings
from memory.stalled_jobs import STALLED_SECONDS

LEAST_FREE_BYTES = 500_000_000
LONGEST_WAIT_SECONDS = 600.0
START_SECONDS = 2.0

SERVER = """
SELECT current_setting('server_version') AS version, current_setting('transaction_read_only') = 'on' AS read_only
"""
RIGHTS = """
SELECT (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS version,
       EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') AS available,
       current_setting('is_superuser') = 'on' AS may_add,
       has_schema_privilege(current_schema(), 'CREATE') AS may_make_tables
"""
QUEUE = """
SELECT count(*) FILTER (WHERE status = 'todo' AND due <= now()) AS waiting,
       count(*) FILTER (WHERE status = 'todo' AND attempts > 0) AS tried,
       count(*) FILTER (WHERE status = 'failed') AS failed,
       coalesce(max(extract(epoch FROM now() - due)) FILTER (WHERE status = 'todo' AND due <= now()), 0)::float
           AS longest,
       EXISTS (
           SELECT FROM procrastinate_workers WHERE last_heartbeat > now() - make_interval(secs => %s)
       ) AS worked_on
FROM (
    SELECT status, attempts, coalesce(
        scheduled_at, (SELECT min(at) FROM procrastinate_events AS event WHERE event.job_id = job.id), now()
    ) AS due
    FROM procrastinate_jobs AS job
    WHERE status IN ('todo', 'failed')
) AS job
"""


async def check(
    settings: MemorySettings, folders: Sequence[tuple[str, Path]], business: str | None = None
) -> list[Finding]:
    """Look at everything, from outside: opens the database that the settings name and closes it again.

    `folders` are the migrations as `migrate` takes them, `business` is the one whose tables are looked at. Never
    raises on account of what it finds.
    """
    try:
        async with open_database(settings, business, start_seconds=START_SECONDS) as database:
            findings = await check_database(database, folders, settings)
    except StewardError as error:
        findings = [Finding("database", False, "not usable", str(error))]
    return [*findings, await asyncio.to_thread(_disk, settings.steward_home)]


async def check_database(
    database: Database, folders: Sequence[tuple[str, Path]], settings: MemorySettings
) -> list[Finding]:
    """Look at an open database: does it answer, is its schema current, can conversations be read, does the queue
    move."""
    try:
        return await _check_database(database, folders, settings)
    except (StewardError, psycopg.Error) as error:
        said = " ".join(str(error).split())
        cure = said if isinstance(error, StewardError) else f"look at its log ({said})"
        return [Finding("database", False, "does not answer as it should", cure)]


async def _check_database(
    database: Database, folders: Sequence[tuple[str, Path]], settings: MemorySettings
) -> list[Finding]:
    started = time.perf_counter()
    server = await database.fetch_one(SERVER)
    milliseconds = (time.perf_counter() - started) * 1000
    version = server["version"] if server else "unknown"
    if server and server["read_only"]:
        cure = "point DATABASE_URL at the primary, or lift the restriction"
        return [Finding("database", False, f"{database.address} is read-only", cure)]
    answers = Finding("database", True, f"Postgres {version} at {database.address}, {milliseconds:.0f} ms")
    can = await database.fetch_one(RIGHTS)
    assert can is not None, "a SELECT without FROM gives exactly one row"
    vector = _vector(can)
    if not (vector.ok or can["available"]):
        return [answers, vector]
    schema = await _schema(database, folders, can)
    if not schema.ok:
        return [answers, vector, schema]
    sealed = await check_encryption(database, settings)
    return [answers, vector, schema, *sealed, await _queue(database, settings)]


def _vector(found: Mapping[str, Any]) -> Finding:
    if not found["available"] and not found["version"]:
        return Finding("pgvector", False, "this Postgres has none", INSTALL_VECTOR)
    if not found["version"]:
        cure = "start the agent once: it adds it" if found["may_add"] else ADD_VECTOR
        return Finding("pgvector", False, "not added to this database", cure)
    return Finding("pgvector", True, f"version {found['version']}")


async def _schema(database: Database, folders: Sequence[tuple[str, Path]], can: Mapping[str, Any]) -> Finding:
    try:
        missing = await pending(database, folders)
    except StewardError as error:
        return Finding("schema", False, "does not fit this version", str(error))
    if missing:
        many = "1 migration is" if len(missing) == 1 else f"{len(missing)} migrations are"
        cure = "start the agent once: it applies them"
        if can["may_make_tables"] is False:
            cure = f"let the user in DATABASE_URL make tables (GRANT CREATE ON SCHEMA {database.schema}), then {cure}"
        return Finding("schema", False, f"{many} missing, the first is {missing[0]}", cure)
    place = "" if database.schema == FIRST else f", in {database.schema}"
    return Finding("schema", True, f"current{place}")


async def _queue(database: Database, settings: MemorySettings) -> Finding:
    """Jobs that wait for the next agent are no fault: summaries fall due when a session is long over."""
    found = await database.fetch_one(QUEUE, (STALLED_SECONDS,))
    assert found is not None  # counts without GROUP BY give exactly one row
    again = f", {found['tried']} failed before and wait for another try" if found["tried"] else ""
    detail = f"{found['waiting']} jobs due{again}, {found['failed']} failed"
    longest = found["longest"]
    if longest <= LONGEST_WAIT_SECONDS:
        return Finding("queue", True, detail)
    detail = f"{detail}, the oldest waits for {longest / 60:.0f} minutes"
    if found["worked_on"]:
        cure = "the workers do not keep up, or fail: look at their log, or run more of `steward worker`"
        return Finding("queue", False, detail, cure)
    if settings.steward_worker == "external":
        return Finding("queue", False, detail, "no worker runs: start `steward worker`")
    cure = "no agent runs that would take them; the next one does, and `steward worker --once` does so now"
    return Finding("queue", True, detail, cure)


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
