"""The health check names what is wrong and how to mend it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

import pytest

from memory import health
from memory.database import Database
from memory.findings import Finding
from memory.health import check, check_database
from memory.settings import MemorySettings
from tests.conftest import migration_folders

SETTINGS = MemorySettings(_env_file=None)
JOB = """
INSERT INTO procrastinate_jobs (task_name, queue_name, status, scheduled_at)
VALUES ('x', 'memory', %s, now() + make_interval(secs => %s))
"""


def by_name(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}


@pytest.fixture
async def empty(empty_database_url: str) -> AsyncIterator[Database]:
    async with Database(empty_database_url, size=1) as database:
        yield database


async def test_a_sound_database_passes_everywhere(database_url: str, tmp_path: Path) -> None:
    settings = MemorySettings(
        _env_file=None, database_url=database_url, steward_home=tmp_path / "not" / "yet"
    )
    findings = by_name(await check(settings, migration_folders()))
    assert set(findings) == {"database", "pgvector", "schema", "queue", "disk"}
    assert all(finding.ok for finding in findings.values())
    assert "Postgres 1" in findings["database"].detail


async def test_a_database_that_cannot_be_reached_is_one_finding_with_a_cure(tmp_path: Path) -> None:
    url = f"postgresql://postgres:hidden@/nothing?host={tmp_path}&connect_timeout=1"
    settings = MemorySettings(_env_file=None, database_url=url, steward_home=tmp_path)
    findings = by_name(await check(settings, []))
    assert not findings["database"].ok
    assert "cannot be reached" in findings["database"].cure
    assert "hidden" not in str(findings)
    assert findings["disk"].ok


async def test_an_empty_database_lacks_extension_and_schema(empty: Database) -> None:
    findings = by_name(await check_database(empty, migration_folders(), SETTINGS))
    assert findings["database"].ok
    assert not findings["pgvector"].ok
    assert "migrations are missing" in findings["schema"].detail
    assert "start the agent once" in findings["schema"].cure


async def test_a_schema_newer_than_the_code_is_told(database: Database) -> None:
    await database.execute(
        "INSERT INTO schema_migration (package, number, name, checksum) VALUES ('extension', 99, 'later', '')"
    )
    finding = by_name(await check_database(database, migration_folders(), SETTINGS))["schema"]
    assert not finding.ok
    assert "newer" in finding.cure


async def queue_finding(database: Database, worker: Literal["inline", "external"] = "inline") -> Finding:
    settings = MemorySettings(_env_file=None, steward_worker=worker)
    return by_name(await check_database(database, migration_folders(), settings))["queue"]


async def test_jobs_that_are_due_later_or_were_given_up_are_counted(database: Database) -> None:
    await database.execute(JOB, ("todo", 3600))
    await database.execute(JOB, ("failed", 0))
    assert await queue_finding(database) == Finding("queue", True, "0 jobs due, 1 failed")
    await database.execute("UPDATE procrastinate_jobs SET attempts = 2 WHERE status = 'todo'")
    assert "1 failed before and wait for another try" in (await queue_finding(database)).detail


async def test_jobs_that_wait_for_the_next_agent_are_no_fault(database: Database) -> None:
    await database.execute(JOB, ("todo", -3600))
    finding = await queue_finding(database)
    assert finding.ok
    assert "60 minutes" in finding.detail
    assert "no agent runs" in finding.cure
    assert "steward worker --once" in finding.cure


async def test_jobs_that_wait_for_a_worker_that_is_not_there_are_a_fault(database: Database) -> None:
    await database.execute(JOB, ("todo", -3600))
    await database.execute(
        "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '1 minute')"
    )
    finding = await queue_finding(database, "external")
    assert not finding.ok
    assert "60 minutes" in finding.detail
    assert "no worker runs" in finding.cure


@pytest.mark.parametrize("worker", ["inline", "external"])
async def test_jobs_that_wait_beside_a_worker_are_a_fault_of_it(
    database: Database, worker: Literal["inline", "external"]
) -> None:
    await database.execute(JOB, ("todo", -3600))
    await database.execute("INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now())")
    finding = await queue_finding(database, worker)
    assert not finding.ok
    assert "do not keep up" in finding.cure


async def test_a_full_disk_is_told(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "LEAST_FREE_BYTES", 10**18)
    settings = MemorySettings(_env_file=None, database_url=database_url, steward_home=tmp_path)
    finding = by_name(await check(settings, migration_folders()))["disk"]
    assert not finding.ok
    assert "make room" in finding.cure
