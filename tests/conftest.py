"""One Postgres for the whole run, one fresh database copied from a migrated template for each test that asks.

STEWARD_TEST_DATABASE_URL names a server to use instead of the embedded one; its user must be allowed to create
databases.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import hypothesis
import psycopg
import pytest
from psycopg import sql

from memory import known_secrets
from memory.database import Database
from memory.embedded import EmbeddedPostgres
from memory.embeddings import LocalEmbedder
from memory.migrate import migrate

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {
    "memory": ROOT / "memory/migrations",
    "tools": ROOT / "tools/migrations",
    "nodes": ROOT / "nodes/migrations",
    "graph": ROOT / "graph/migrations",
    "shop": ROOT / "graph/shop/migrations",
}
TEMPLATE_LOCK = 7_201_906

# A busy machine is no fault of what is tested.
hypothesis.settings.register_profile(
    "steward", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("steward")


def migration_folders() -> list[tuple[str, Path]]:
    return [(package, folder) for package, folder in PACKAGES.items() if folder.is_dir()]


@pytest.fixture(autouse=True)
def _no_secrets_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test takes for a key may be a plain word in another."""
    monkeypatch.setattr(known_secrets, "_known", set())


@pytest.fixture(scope="session")
def server_url(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[str]:
    """The server of this run, shared by its workers."""
    given = os.environ.get("STEWARD_TEST_DATABASE_URL")
    if given:
        yield given
        return
    base = tmp_path_factory.getbasetemp()
    server = EmbeddedPostgres((base if worker_id == "master" else base.parent) / "home")
    url = server.start()
    _stop_caring_for_crashes(url)
    yield url
    server.release()


@pytest.fixture(scope="session")
def template(server_url: str) -> str:
    """Name of a migrated database that tests copy; made by the first worker that asks."""
    name = _template_name(migration_folders())
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", (TEMPLATE_LOCK,))
        found = connection.execute("SELECT FROM pg_database WHERE datname = %s", (name,)).fetchone()
        if found is None:
            draft = f"{name}_draft"
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(draft)))
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(draft)))
            asyncio.run(_migrate(at_database(server_url, draft)))
            connection.execute(
                sql.SQL("ALTER DATABASE {} RENAME TO {}").format(sql.Identifier(draft), sql.Identifier(name))
            )
    return name


@pytest.fixture
def empty_database_url(server_url: str) -> Iterator[str]:
    """A fresh database without any table."""
    yield from _fresh_database(server_url, "template0")


@pytest.fixture
def database_url(server_url: str, template: str) -> Iterator[str]:
    """A fresh, migrated, empty database."""
    yield from _fresh_database(server_url, template)


@pytest.fixture(scope="module")
def module_database_url(server_url: str, template: str) -> Iterator[str]:
    """One fresh, migrated database for all tests of a module: where starting a process is what takes long."""
    yield from _fresh_database(server_url, template)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    async with Database(database_url, size=4) as database:
        yield database


def _stop_caring_for_crashes(url: str) -> None:
    """Test data need not outlive a power cut: hundreds of databases are made without waiting for the disk."""
    with psycopg.connect(url, autocommit=True) as connection:
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            connection.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(setting)))
        connection.execute("SELECT pg_reload_conf()")


def at_database(url: str, name: str) -> str:
    """The same server, another database."""
    parts = urlsplit(url)
    moved = urlunsplit(parts._replace(path=f"/{name}"))
    return moved.replace("postgresql:/", "postgresql:///", 1) if not parts.netloc else moved


def _fresh_database(server_url: str, template: str) -> Iterator[str]:
    name = f"test_{uuid4().hex}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template))
        )
    yield at_database(server_url, name)
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


async def _migrate(url: str) -> None:
    async with Database(url, size=1) as database:
        await migrate(database, migration_folders())


def _template_name(folders: Sequence[tuple[str, Path]]) -> str:
    """Named for the migrations' text, so that a changed migration never meets an old template."""
    digest = hashlib.sha256()
    for _, folder in folders:
        for path in sorted(folder.glob("*.sql")):
            digest.update(path.read_bytes())
    return f"steward_template_{digest.hexdigest()[:16]}"


@pytest.fixture(scope="session")
def embedder() -> LocalEmbedder:
    """The local embedding model, loaded once a process."""
    return LocalEmbedder()
