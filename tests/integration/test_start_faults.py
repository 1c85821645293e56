"""What keeps the agent from starting is one sentence with a cure, the same at the start, by doctor and by /ready."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest

from graph import Settings, open_agent
from graph.doctor import check_readiness, examine
from graph.holder import Holder
from graph.shop.business import SHOP
from memory.database import Database
from memory.embedded import EmbeddedPostgres
from memory.errors import ConfigurationError, DatabaseUnavailable, StewardError
from tests.conftest import at_database
from tests.support.processes import Steward
from tests.support.sessions import end_others

SETUP = (
    "CREATE ROLE bob LOGIN PASSWORD 'right-one'",
    "CREATE ROLE nologin PASSWORD 'right-one'",
    "CREATE DATABASE fresh",
    "CREATE DATABASE taken",
    "CREATE DATABASE full_up CONNECTION LIMIT 0",
)


class Guarded(NamedTuple):
    """A Postgres that asks for a password and has no pgvector to offer."""

    url: str

    def at(self, database: str, user: str, password: str = "right-one") -> str:
        return at_database(self.url.replace("postgres@", f"{user}:{password}@"), database)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    home = tmp_path_factory.mktemp("guarded")
    server = EmbeddedPostgres(home)
    url = server.start()
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in (*SETUP, "ALTER ROLE postgres PASSWORD 'right-one'"):
            connection.execute(statement)
        connection.execute("ALTER SYSTEM SET extension_control_path = '/nowhere'")
        (home / "postgres/data/pg_hba.conf").write_text("local all all scram-sha-256\n")
        connection.execute("SELECT pg_reload_conf()")
    with psycopg.connect(Guarded(url).at("taken", "postgres")) as connection:
        connection.execute("CREATE TABLE public.served_business (name text, schema_name text)")
        connection.execute("INSERT INTO public.served_business VALUES ('shop', 'public')")
    yield Guarded(url)
    server.release()


def settings_for(url: str, home: Path, **more: Any) -> Settings:
    values = {"database_url": url, "steward_home": home, "steward_worker": "external", **more}
    return Settings(_env_file=None, **values)


async def told(settings: Settings) -> tuple[str, str, str]:
    """What the start, the doctor and readiness say."""
    with pytest.raises(StewardError) as caught:
        async with open_agent(settings):
            raise AssertionError("it has started")
    doctor = [f"{f.name}: {f.detail}: {f.cure}" for f in await examine(settings, SHOP) if not f.ok]
    ready = [f"{f.name}: {f.detail}: {f.cure}" for f in await check_readiness(Holder(settings, SHOP))]
    said = (str(caught.value), "; ".join(doctor), "; ".join(ready))
    for text in said:
        assert len(text.splitlines()) == 1
        assert "right-one" not in text
        assert "wrong-one" not in text
    return said


@pytest.mark.parametrize(
    ("database", "user", "password", "expected"),
    [
        ("fresh", "bob", "wrong-one", "refuses the password; correct user and password in DATABASE_URL"),
        ("fresh", "nobody", "right-one", "refuses the password"),
        ("fresh", "nologin", "right-one", "does not let this user in"),
        ("nowhere", "bob", "right-one", 'has no database "nowhere"; create it'),
        ("taken", "bob", "right-one", "connect as the owner of its tables, or grant the right"),
        ("fresh", "postgres", "right-one", "install it on the server (https://github.com/pgvector/pgvector)"),
    ],
)
async def test_start_doctor_and_ready_say_the_same(
    database: str, user: str, password: str, expected: str, guarded: Guarded, tmp_path: Path
) -> None:
    for said in await told(settings_for(guarded.at(database, user, password), tmp_path)):
        assert expected in said


async def test_a_user_who_may_make_no_tables_is_told_before_anything_is_made(
    server_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS poor")
        connection.execute("CREATE ROLE poor LOGIN")
    start, doctor, ready = await told(
        settings_for(empty_database_url.replace("postgres@", "poor@"), tmp_path)
    )
    assert "grant CREATE on the database" in start
    for said in (doctor, ready):
        assert "let a superuser run CREATE EXTENSION vector" in said
        assert "GRANT CREATE ON SCHEMA public" in said


@pytest.mark.parametrize(
    ("statement", "start", "expected"),
    [
        (
            "INSERT INTO schema_migration (package, number, name, checksum) VALUES ('memory', 9999, 'later', '')",
            True,
            "Install the newer version.",
        ),
        (
            "DELETE FROM schema_migration WHERE package = 'nodes' AND number = 1",
            False,
            "1 migration is missing, the first is nodes/0001_token_usage",
        ),
        ("DROP EXTENSION vector CASCADE", False, "not added to this database"),
    ],
)
async def test_a_schema_that_does_not_fit_is_told_also_by_an_agent_that_serves(
    statement: str, start: bool, expected: str, database_url: str, tmp_path: Path
) -> None:
    settings = settings_for(database_url, tmp_path)
    holder = Holder(settings, SHOP)
    await holder.services()
    try:
        assert await check_readiness(holder) == []
        with psycopg.connect(database_url) as connection:
            connection.execute(statement)  # type: ignore[call-overload]
        ready = [f"{f.detail}: {f.cure}" for f in await check_readiness(holder)]
        assert expected in "; ".join(ready)
        doctor = [f"{f.detail}: {f.cure}" for f in await examine(settings, SHOP) if not f.ok]
        assert ready == doctor
    finally:
        await holder.close()
    if start:
        with pytest.raises(StewardError, match=expected):
            async with open_agent(settings):
                pass


async def test_an_agent_that_has_lost_its_password_says_so(guarded: Guarded, tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path)
    url = server.start()
    holder = Holder(settings_for(url, tmp_path), SHOP)
    await holder.services()
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            (tmp_path / "postgres/data/pg_hba.conf").write_text("local all all scram-sha-256\n")
            connection.execute("SELECT pg_reload_conf()")
            end_others(connection)
        (found,) = await check_readiness(holder)
        assert "refuses the password" in found.cure
    finally:
        await holder.close()
        server.release()


async def test_a_server_without_a_free_connection_is_told(guarded: Guarded) -> None:
    with pytest.raises(DatabaseUnavailable, match="has no connection free; raise its max_connections"):
        async with Database(guarded.at("full_up", "bob"), start_seconds=0):
            pass


async def test_a_host_that_never_answers_is_told_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://bob:right-one@127.0.0.1:{silent.getsockname()[1]}/shop"
        with pytest.raises(DatabaseUnavailable, match="does not answer in time") as caught:
            async with Database(url, start_seconds=0):
                pass
    assert "right-one" not in str(caught.value)


@pytest.mark.parametrize(
    "written",
    [
        "right/one@host/shop",
        "right#one@host/shop",
        "right?one@host/shop",
        "12/right-one@host/shop",
        "12#right-one@host/shop",
        "right%zzone@host/shop",
        "right-one@host:port/shop",
        "right-one@[host/shop",
    ],
)
def test_a_piece_of_a_password_is_never_taken_for_something_that_is_shown(written: str) -> None:
    with pytest.raises(ConfigurationError, match="percent-encoded") as caught:
        Database(f"postgresql://bob:{written}")
    assert "right" not in str(caught.value)
    assert "one" not in str(caught.value).split()


def test_an_at_sign_in_a_password_is_read_as_it_was_meant() -> None:
    assert Database("postgresql://bob:a@b@db:5432/shop").url == "postgresql://bob:a%40b@db:5432/shop"


def test_a_parameter_that_postgres_does_not_know_is_named() -> None:
    with pytest.raises(ConfigurationError, match="knows no parameter sslmod"):
        Database("postgresql://db/shop?sslmod=require")


def test_the_command_line_tells_one_line_and_leaves_with_three(guarded: Guarded, tmp_path: Path) -> None:
    steward = Steward(tmp_path, database_url=guarded.at("fresh", "bob", "wrong-one"))
    for command in (["chat", "hello", "--user", "u"], ["serve", "--port", "0"], ["worker", "--once"]):
        done = steward.run(*command)
        assert (done.returncode, done.stdout) == (3, "")
        (line,) = done.stderr.splitlines()
        assert line.endswith("refuses the password; correct user and password in DATABASE_URL.")
