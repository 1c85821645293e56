"""Six processes that find an empty database bring it up together."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psycopg

from tests.conftest import migration_folders

ROOT = Path(__file__).resolve().parents[2]
MIGRATE = """
import asyncio, sys
from memory.database import Database
from memory.migrate import migrate
from tests.conftest import migration_folders

async def main():
    async with Database(sys.argv[1], size=1) as database:
        await migrate(database, migration_folders())

asyncio.run(main())
"""


def test_six_processes_migrate_an_empty_database_at_once(empty_database_url: str) -> None:
    started = [
        subprocess.Popen(
            [sys.executable, "-c", MIGRATE, empty_database_url], cwd=ROOT, stderr=subprocess.PIPE, text=True
        )
        for _ in range(6)
    ]
    said = [process.communicate(timeout=120)[1] for process in started]
    assert [process.returncode for process in started] == [0] * 6, said
    with psycopg.connect(empty_database_url) as connection:
        for package, _ in migration_folders():
            assert (
                connection.execute("SELECT FROM schema_migration WHERE package = %s", (package,)).fetchone()
                is not None
            )
