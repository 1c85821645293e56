"""Postgres in trouble while turns run: a clear error in one sentence, and a thread that goes on afterwards (O2)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from langchain_core.messages import HumanMessage

from graph import Settings
from graph.doctor import check_readiness
from graph.holder import Holder
from memory.errors import DatabaseUnavailable
from tests.support.model_replies import Reply, Request
from tests.support.model_server import ModelServer, RoleQueues
from tests.support.sessions import end_others
from tests.support.turns import Talk, business, talking

TROUBLE = """
CREATE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN {0} RETURN NEW; END $body$;
CREATE TRIGGER trouble BEFORE INSERT ON {1} FOR EACH ROW EXECUTE FUNCTION trouble();
"""
FULL = "RAISE EXCEPTION USING ERRCODE = 'disk_full', MESSAGE = 'could not extend file';"
SLOW = "PERFORM pg_sleep(5);"
CURED = "DROP FUNCTION trouble CASCADE"
SWITCH = """
DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = {}', current_database());
END $$
"""


async def send(talk: Talk) -> dict[str, Any]:
    return await talk.run({"messages": [HumanMessage("hello", id="m1")]})


@pytest.mark.parametrize(
    ("trouble", "table", "told"),
    [
        (FULL, "thread_lease", "disk is full"),
        (FULL, "checkpoints", "disk is full"),
        (FULL, "checkpoint_writes", "disk is full"),
        (SLOW, "checkpoints", "in the middle of the turn"),
    ],
)
async def test_a_turn_that_cannot_be_stored_is_told_and_served_when_it_can(
    trouble: str,
    table: str,
    told: str,
    database_url: str,
    tmp_path: Path,
    server: ModelServer,
    script: RoleQueues,
) -> None:
    script.add("chat", *[Reply("Hello.")] * 3)
    async with talking(database_url, tmp_path, server, [], steward_statement_seconds=1) as talk:
        await talk.say("hi")
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute(TROUBLE.format(trouble, table).encode())
            with pytest.raises(DatabaseUnavailable, match=told) as error:
                await send(talk)
            assert "\n" not in str(error.value)
            connection.execute(CURED)
        state = await send(talk)
        assert (state["answer"], len(state["messages"])) == ("Hello.", 4)
        await talk.check_thread()


@pytest.mark.parametrize("table", ["checkpoints", "checkpoint_writes"])
async def test_a_step_that_was_lost_in_the_middle_of_a_turn_is_in_nobodys_way_afterwards(
    table: str, database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    def troubling(request: Request) -> Reply:
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute(TROUBLE.format(FULL, table).encode())
        return Reply("This is lost.")

    script.add("chat", troubling, Reply("Hello."))
    async with talking(database_url, tmp_path, server, []) as talk:
        with pytest.raises(DatabaseUnavailable, match="disk is full"):
            await send(talk)
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute(CURED)
        state = await send(talk)
        assert (state["answer"], len(state["messages"])) == ("Hello.", 2)
        await talk.check_thread()


async def test_a_read_only_database_is_told_to_callers_and_probes(
    database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", Reply("Hello."))
    with psycopg.connect(database_url, autocommit=True) as connection:
        async with talking(database_url, tmp_path, server, []) as talk:
            connection.execute(SWITCH.format("on").encode())
            end_others(connection)
            with pytest.raises(DatabaseUnavailable, match="read-only"):
                await send(talk)
            found = await check_readiness(_holder(database_url, tmp_path, server))
            assert [(finding.name, finding.ok) for finding in found] == [("database", False)]
            assert "read-only" in found[0].detail + found[0].cure
            connection.execute("SET default_transaction_read_only = off")
            connection.execute(SWITCH.format("off").encode())
            end_others(connection)
            assert (await send(talk))["answer"] == "Hello."


def _holder(database_url: str, home: Path, server: ModelServer) -> Holder:
    values = {"database_url": database_url, "steward_home": home, **server.settings()}
    return Holder(Settings(_env_file=None, **values), business([]))


async def test_connections_that_are_dropped_while_the_model_is_asked_do_not_cost_the_turn(
    database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    def dropping(request: Request) -> Reply:
        with psycopg.connect(database_url, autocommit=True) as connection:
            end_others(connection)
        return Reply("Hello.")

    script.add("chat", dropping)
    async with talking(database_url, tmp_path, server, []) as talk:
        assert (await send(talk))["answer"] == "Hello."
        await talk.check_thread()


async def test_one_connection_serves_twenty_turns_at_once(
    database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", *[Reply("Hello.", delay=0.2)] * 20)
    async with talking(database_url, tmp_path, server, [], steward_pool_size=1) as talk:
        talks = [Talk(talk.agent, thread_id=uuid4().hex) for _ in range(20)]
        states = await asyncio.gather(*(send(one) for one in talks))
    assert [state["answer"] for state in states] == ["Hello."] * 20
