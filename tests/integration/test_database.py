"""The pool survives dropped connections, tells clearly what is wrong, and works with one connection."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psycopg
import pytest
from psycopg_pool import AsyncConnectionPool
from sqlalchemy import make_url, text
from sqlalchemy.ext.asyncio import create_async_engine

from memory.database import Connection, Database, open_database
from memory.embedded import EmbeddedPostgres
from memory.errors import ConfigurationError, DatabaseUnavailable
from memory.migrate import migrate
from memory.settings import MemorySettings
from tests.conftest import at_database, migration_folders
from tests.support.sessions import KILL_OTHERS, end_others

SLEEPER = "SELECT FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(30)' AND state = 'active'"


async def test_rows_are_dicts_and_statements_commit_by_themselves(database: Database) -> None:
    await database.execute("CREATE TABLE item (id int, name text)")
    assert await database.execute("INSERT INTO item VALUES (1, 'a'), (2, %s)", ("用户 😀",)) == 2
    assert await database.fetch("SELECT * FROM item ORDER BY id") == [
        {"id": 1, "name": "a"},
        {"id": 2, "name": "用户 😀"},
    ]
    assert await database.fetch_one("SELECT name FROM item WHERE id = %s", (2,)) == {"name": "用户 😀"}
    assert await database.fetch_one("SELECT name FROM item WHERE id = 3") is None


async def test_a_transaction_is_undone_by_any_exception(database: Database) -> None:
    await database.execute("CREATE TABLE item (id int)")

    async def stopped() -> None:
        async with database.transaction() as connection:
            await connection.execute("INSERT INTO item VALUES (1)")
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        await stopped()
    async with database.transaction() as connection:
        await connection.execute("INSERT INTO item VALUES (2)")
    assert await database.fetch("SELECT id FROM item") == [{"id": 2}]


async def test_the_call_after_a_dropped_connection_succeeds(database_url: str) -> None:
    async with Database(database_url, size=2) as database:
        await database.fetch("SELECT 1")
        with psycopg.connect(database_url, autocommit=True) as other:
            end_others(other)
        assert await database.fetch("SELECT 1 AS one") == [{"one": 1}]


async def test_only_a_connection_on_which_something_has_arrived_is_asked_whether_it_works(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    ask = AsyncConnectionPool.check_connection

    async def counted(connection: Connection) -> None:
        asked.append(connection)
        await ask(connection)

    monkeypatch.setattr(AsyncConnectionPool, "check_connection", staticmethod(counted))
    async with Database(database_url, size=1) as database:
        for _ in range(5):
            await database.fetch("SELECT 1")
        assert not asked
        with psycopg.connect(database_url, autocommit=True) as other:
            end_others(other)
        assert await database.fetch("SELECT 1 AS one") == [{"one": 1}]
        assert len(asked) == 1


async def test_a_connection_dropped_in_mid_statement_is_told_and_the_pool_recovers(database_url: str) -> None:
    async with Database(database_url, size=1) as database:

        async def interrupted() -> None:
            await database.fetch("SELECT pg_sleep(30)")

        task = asyncio.create_task(interrupted())
        async with Database(database_url, size=1) as other:
            while not await other.fetch(SLEEPER):  # noqa: ASYNC110 (the event is in the database)
                await asyncio.sleep(0.01)
            await other.execute(KILL_OTHERS)
        with pytest.raises(DatabaseUnavailable, match="dropped the connection"):
            await task
        assert await database.fetch("SELECT 1 AS one") == [{"one": 1}]


async def test_a_full_pool_is_a_clear_error_soon(database_url: str) -> None:
    async with Database(database_url, size=1, wait_seconds=0.2) as database, database.connection():
        with pytest.raises(DatabaseUnavailable, match="STEWARD_POOL_SIZE"):
            await database.fetch("SELECT 1")


async def test_twenty_calls_share_one_connection(database_url: str) -> None:
    async with Database(database_url, size=1) as database:
        rows = await asyncio.gather(*(database.fetch("SELECT %s::int AS n", (n,)) for n in range(20)))
        assert [row[0]["n"] for row in rows] == list(range(20))


async def test_a_statement_that_takes_too_long_is_ended(database_url: str) -> None:
    async with Database(database_url, size=1, statement_seconds=0.1) as database:
        with pytest.raises(psycopg.errors.QueryCanceled):
            await database.fetch("SELECT pg_sleep(5)")


async def test_errors_of_a_statement_stay_what_they_are(database: Database) -> None:
    with pytest.raises(psycopg.errors.UndefinedTable):
        await database.fetch("SELECT * FROM nowhere")


async def test_behind_pgbouncer_nothing_is_prepared_and_nothing_is_set(database_url: str) -> None:
    async with Database(f"{database_url}&pgbouncer=true", size=1, statement_seconds=0.1) as database:
        for _ in range(8):
            await database.fetch("SELECT 1")
        assert await database.fetch("SELECT * FROM pg_prepared_statements") == []
        assert await database.fetch("SHOW statement_timeout") == [{"statement_timeout": "0"}]


async def test_a_closed_database_says_so(database_url: str) -> None:
    async with Database(database_url, size=1) as database:
        pass
    with pytest.raises(DatabaseUnavailable, match="closed"):
        await database.fetch("SELECT 1")


async def test_a_missing_database_is_told_at_once(server_url: str) -> None:
    with pytest.raises(DatabaseUnavailable, match='no database "nowhere"; create it'):
        async with Database(at_database(server_url, "nowhere")):
            pass


async def test_a_server_that_is_not_there_is_told_without_the_password() -> None:
    with pytest.raises(DatabaseUnavailable, match="cannot be reached; start it") as caught:
        async with Database("postgresql://bob:hunter2@127.0.0.1:9/shop", start_seconds=0.2):
            pass
    assert "hunter2" not in str(caught.value)
    assert "127.0.0.1:9/shop" in str(caught.value)


async def test_a_wrong_password_and_an_unknown_user_are_told_at_once(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path)
    url = server.start()
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE ROLE bob LOGIN PASSWORD 'right'")
            (tmp_path / "postgres/data/pg_hba.conf").write_text("local all all scram-sha-256\n")
            connection.execute("SELECT pg_reload_conf()")
        for user in ("bob", "nobody_here"):
            with pytest.raises(DatabaseUnavailable, match="refuses the password"):
                async with Database(url.replace("postgres@", f"{user}:wrong@")):
                    pass
        async with Database(url.replace("postgres@", "bob:right@"), size=1) as database:
            assert await database.fetch("SELECT current_user AS name") == [{"name": "bob"}]
    finally:
        server.release()


@pytest.mark.parametrize("url", ["mysql://a/b", "localhost/shop", "", "sqlite:///x"])
def test_an_address_of_something_else_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="DATABASE_URL"):
        Database(url)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg", "postgresql+asyncpg"])
def test_every_customary_scheme_is_taken(scheme: str) -> None:
    database = Database(f"{scheme}://bob:p%40ss@db:5432/shop?sslmode=require")
    assert database.url == "postgresql://bob:p%40ss@db:5432/shop?sslmode=require"
    assert make_url(database.sqlalchemy_url).password == "p@ss"
    assert "ss" not in str(database.address)


async def test_sqlalchemy_reaches_the_same_database(database: Database) -> None:
    await database.execute("CREATE TABLE marker ()")
    engine = create_async_engine(database.sqlalchemy_url)
    async with engine.connect() as connection:
        found = await connection.execute(text("SELECT to_regclass('marker')::text"))
        assert found.scalar() == "marker"
    await engine.dispose()


async def test_without_an_address_the_embedded_server_is_started_and_stopped(tmp_path: Path) -> None:
    settings = MemorySettings(_env_file=None, database_url=None, steward_home=tmp_path, steward_pool_size=1)
    async with open_database(settings) as database:
        await migrate(database, migration_folders())
        assert await database.fetch_one("SELECT '[1,2]'::vector AS v") is not None
    assert not (tmp_path / "postgres/data/postmaster.pid").exists()
