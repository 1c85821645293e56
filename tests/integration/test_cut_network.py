"""A network that is cut and says nothing: what waits for it ends in time, and what comes afterwards is served."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage

from graph import Settings
from graph.doctor import check_readiness, examine
from graph.holder import Holder
from memory.database import NETWORK, Database
from memory.embeddings import LocalEmbedder
from memory.errors import ConnectionDropped, DatabaseUnavailable
from memory.queue import MemoryQueue
from memory.queue_connector import PoolConnector
from memory.settings import MemorySettings
from memory.store import list_memories
from memory.worker import Worker
from tests.support.cut_network import CutNetwork
from tests.support.memory import ScriptedExtractor, ScriptedSummariser, exchange
from tests.support.model_replies import Reply, Request
from tests.support.model_server import ModelServer, RoleQueues
from tests.support.turns import business, talking

PATIENCE = 60
"""Seconds, on a machine that does other things; without a bound everything here would wait for ever."""
ONE = [{"one": 1}]


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.database.GRACE_SECONDS", 1.0)
    monkeypatch.setattr("memory.bounded_connection.CANCEL_SECONDS", 0.5)
    monkeypatch.setitem(NETWORK, "connect_timeout", 2)


@pytest.fixture
def network(database_url: str) -> Iterator[CutNetwork]:
    with CutNetwork.to_postgres(database_url) as network:
        yield network


@asynccontextmanager
async def reached(network: CutNetwork, *, pgbouncer: bool = False) -> AsyncIterator[Database]:
    mark = "?pgbouncer=true" if pgbouncer else ""
    async with Database(f"{network.url}{mark}", size=4, statement_seconds=1, wait_seconds=4) as database:
        await use_all(database)
        yield database


async def use_all(database: Database) -> None:
    """Have every connection of the pool made and used."""
    await asyncio.gather(*(database.fetch("SELECT pg_sleep(0.3)") for _ in range(4)))


@pytest.mark.parametrize("pgbouncer", [False, True], ids=["direct", "as through PgBouncer"])
async def test_a_statement_that_nobody_answers_ends_and_the_pool_recovers(
    network: CutNetwork, pgbouncer: bool
) -> None:
    async with reached(network, pgbouncer=pgbouncer) as database, asyncio.timeout(PATIENCE):
        network.cut()
        with pytest.raises(ConnectionDropped):
            await database.fetch("SELECT 1")
        with pytest.raises(DatabaseUnavailable, match="came free"):
            await database.fetch("SELECT 1")
        network.mend()
        assert await database.fetch("SELECT 1 AS one") == ONE


async def test_one_silent_connection_gives_away_all_that_were_quiet_as_long(
    network: CutNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.connection_check.QUIET_SECONDS", 0.0)
    monkeypatch.setattr("memory.connection_check.ANSWER_SECONDS", 1.0)
    async with reached(network) as database, asyncio.timeout(PATIENCE):
        network.cut()
        network.mend()
        before = network.accepted
        assert await database.fetch("SELECT 1 AS one") == ONE, "no call has to fail for it"
        await use_all(database)
        assert network.accepted - before >= 4


async def test_who_is_cancelled_does_not_wait_for_the_server_to_agree(network: CutNetwork) -> None:
    async with reached(network) as database, asyncio.timeout(PATIENCE):
        network.cut()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await database.fetch("SELECT 1")
        network.mend()
        assert await database.fetch("SELECT 1 AS one") == ONE


async def test_what_a_cut_off_transaction_held_comes_free(
    network: CutNetwork, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.database.IDLE_IN_TRANSACTION_SECONDS", 2)
    async with (
        reached(network) as database,
        Database(database_url, size=1, statement_seconds=PATIENCE) as near,
        asyncio.timeout(PATIENCE),
    ):
        await near.execute("CREATE TABLE item (id int)")
        await near.execute("INSERT INTO item VALUES (1)")

        async def cut_off() -> None:
            async with database.transaction() as connection:
                await connection.execute("UPDATE item SET id = 2")
                network.cut()
                await connection.execute("UPDATE item SET id = 3")

        with pytest.raises(ConnectionDropped):
            await cut_off()
        assert await near.execute("UPDATE item SET id = id + 10") == 1
        assert await near.fetch("SELECT id FROM item") == [{"id": 11}]


async def test_a_turn_whose_model_is_cut_off_ends_with_an_apology(
    database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", Reply("Hello."), Reply("It is in Shanghai."))
    with CutNetwork.to_http(server.url) as network:
        # The turn's own budget is what ends it: the role's limit is longer.
        options = {"steward_turn_seconds": 4, "openai_base_url": network.url}
        async with talking(database_url, tmp_path, server, [], **options) as talk:
            await talk.say("hi")
            network.cut()
            started = time.monotonic()
            state = await asyncio.wait_for(talk.say("Where is it?"), PATIENCE)
            assert time.monotonic() - started < 30
            assert state["answer"].strip()
            assert state["stopped_because"] in ("model_unavailable", "time")
            network.mend()
            state = await asyncio.wait_for(talk.say("And now?"), PATIENCE)
            assert state["answer"] == "It is in Shanghai."
            await talk.check_thread()


async def test_a_turn_whose_database_is_cut_off_is_told_and_served_when_it_is_sent_again(
    network: CutNetwork, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    def cutting(_: Request) -> Reply:
        network.cut()
        return Reply("This is lost.")

    script.add("chat", Reply("Hello."), cutting, Reply("It is in Shanghai."))
    message = {"messages": [HumanMessage("Where is it?", id="m2")]}
    async with talking(network.url, tmp_path, server, [], steward_statement_seconds=1) as talk:
        await talk.say("hi")
        with pytest.raises(DatabaseUnavailable) as error:
            await asyncio.wait_for(talk.run(message), PATIENCE)
        assert "\n" not in str(error.value)
        network.mend()
        state = await asyncio.wait_for(talk.run(message), PATIENCE)
        assert state["answer"] == "It is in Shanghai."
        assert [m.text for m in state["messages"] if isinstance(m, HumanMessage)] == ["hi", "Where is it?"]
        await talk.check_thread()


async def test_probes_and_the_doctor_say_within_seconds_what_is_cut_off(
    network: CutNetwork, tmp_path: Path, server: ModelServer
) -> None:
    with CutNetwork.to_http(server.url) as models:
        values = {**server.settings(), "openai_base_url": models.url, "steward_home": tmp_path}
        settings = Settings(_env_file=None, database_url=network.url, **values)
        holder = Holder(settings, business([]))
        try:
            assert await check_readiness(holder) == []
            network.cut()
            models.cut()
            async with asyncio.timeout(PATIENCE):
                started = time.monotonic()
                told = await check_readiness(holder)
                assert [(finding.name, finding.ok) for finding in told] == [("database", False)]
                found = {finding.name: finding for finding in await examine(settings, holder.business)}
                assert time.monotonic() - started < 45
            assert not found["database"].ok
            assert "cannot be reached" in found["database"].cure
            assert not found["models"].ok
            network.mend()
            assert await check_readiness(holder) == []
        finally:
            network.mend()
            await holder.close()


async def test_a_worker_goes_on_when_the_network_is_mended(
    network: CutNetwork, database_url: str, embedder: LocalEmbedder
) -> None:
    async with reached(network) as database, Database(database_url, size=2) as near:
        settings = MemorySettings(_env_file=None)
        extractor = ScriptedExtractor()
        working = asyncio.create_task(
            Worker(database, embedder, extractor, ScriptedSummariser(), settings).run()
        )
        try:
            async with asyncio.timeout(PATIENCE):
                await asyncio.sleep(1)
                network.cut()
                await MemoryQueue(near).enqueue_turn(exchange("tea = green"))
                await asyncio.sleep(4)
                assert not working.done()
                network.mend()
                while not await list_memories(near, "user_123"):  # noqa: ASYNC110 (the event is in the database)
                    await asyncio.sleep(0.1)
                working.cancel()
                with suppress(asyncio.CancelledError):
                    await working
        finally:
            working.cancel()


async def test_the_listener_notices_that_nothing_comes_any_more(
    network: CutNetwork, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.queue_connector.QUIET_SECONDS", 0.5)
    heard = asyncio.Event()

    async def notice(*, channel: str, payload: str) -> None:
        heard.set()

    async with reached(network) as database, Database(database_url, size=1) as near:
        listening = asyncio.create_task(PoolConnector(database).listen_notify(notice, ["news"]))
        async with asyncio.timeout(PATIENCE):
            for _ in range(2):
                heard.clear()
                while not heard.is_set():
                    await near.execute("NOTIFY news")
                    await asyncio.sleep(0.1)
                network.cut()
                network.mend()
        assert network.accepted >= 2, "it was heard twice, each time through a connection of its own"
        assert not listening.done()
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening
