"""Behind a real PgBouncer in transaction mode (`make check-pgbouncer`): everything works, with two connections."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from graph import Settings, open_agent
from memory.checkpoints import make_checkpointer
from memory.embedded import EmbeddedPostgres
from memory.embeddings import LocalEmbedder
from memory.recall import RecallRequest, recall
from memory.vectors import user_retriever
from tests.support.pgbouncer import PgBouncer
from tests.support.processes import Steward
from tests.support.turns import Talk

CONNECTIONS = 2
LISTENING = "SELECT channel FROM pg_sleep(0.2), pg_listening_channels() AS channel"
REMEMBERED = "SELECT content FROM user_memory WHERE user_id = %s"


@pytest.fixture(scope="session")
def folder() -> Iterator[Path]:
    """Open to the user that Postgres and PgBouncer run as, which pytest's own folders are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="session")
def server_url(folder: Path) -> Iterator[str]:
    server = EmbeddedPostgres(folder / "home")
    yield server.start()
    server.release()


@pytest.fixture(scope="session")
def bouncer(server_url: str, folder: Path) -> Iterator[PgBouncer]:
    with PgBouncer(server_url, folder / "pgbouncer", size=CONNECTIONS) as bouncer:
        yield bouncer


@pytest.fixture
def settings(bouncer: PgBouncer, empty_database_url: str, tmp_path: Path) -> Settings:
    values = {
        "database_url": bouncer.url(urlsplit(empty_database_url).path.lstrip("/")),
        "steward_pgbouncer": "on",
        "steward_home": tmp_path,
    }
    return Settings(_env_file=None, **values)  # type: ignore[call-arg, arg-type]


async def test_four_agents_start_on_an_empty_database_at_once(settings: Settings) -> None:
    async def start() -> str:
        async with open_agent(settings) as agent:
            state = await Talk(agent).say("你好")
            return str(state["answer"])

    assert all(await asyncio.gather(*(start() for _ in range(4))))


async def test_a_conversation_with_tools_an_approval_and_a_memory(settings: Settings) -> None:
    async with open_agent(settings) as agent:
        talk = Talk(agent)
        state = await talk.say("我的订单 ABC-20240520-001 到哪里了？")
        assert [call["status"] for call in state["tool_calls"]] == ["ok"]
        await talk.say("以后请不要周六送货")
        assert await agent.worker.drain(timeout=30)
        found = await recall(
            agent.services.database,
            agent.services.embedder,
            RecallRequest("user_123", "周六送货", datetime.now(UTC)),
        )
        assert found
        other = Talk(agent)
        await other.say("取消我最新的待付款订单")
        if await other.interrupts():
            await other.decide({"type": "reject"})
        await talk.check_thread()
        await other.check_thread()


async def test_many_sessions_share_few_connections(settings: Settings) -> None:
    async with open_agent(settings) as agent:
        talks = [Talk(agent, user_id=f"user_{n}") for n in range(24)]
        for text in ("你好", "有陶瓷杯吗？"):
            states = await asyncio.gather(*(talk.say(text) for talk in talks))
            assert all(state["answer"] and not state["fault"] for state in states)


async def test_a_restart_of_the_bouncer_costs_nothing(settings: Settings, bouncer: PgBouncer) -> None:
    async with open_agent(settings) as agent:
        talk = Talk(agent)
        await talk.say("你好")
        await asyncio.to_thread(bouncer.stop)
        await asyncio.to_thread(bouncer.start)
        state = await talk.say("我的订单 ABC-20240520-001 到哪里了？")
        assert [call["status"] for call in state["tool_calls"]] == ["ok"]
        assert len([m for m in state["messages"] if m.type == "human"]) == 2


async def test_a_worker_beside_the_agent_finds_its_jobs_without_notifications(settings: Settings) -> None:
    async with open_agent(settings) as agent:
        await Talk(agent).say("我对花生过敏")
        async with asyncio.timeout(20):
            while not (rows := await agent.services.database.fetch(REMEMBERED, ("user_123",))):  # noqa: ASYNC110
                await asyncio.sleep(0.2)
        assert "花生" in rows[0]["content"]
        # At once, so that every connection to Postgres is asked.
        asked = [agent.services.database.fetch(LISTENING) for _ in range(2 * CONNECTIONS)]
        assert await asyncio.gather(*asked) == [[]] * len(asked)


async def test_threads_can_be_read_copied_and_erased(settings: Settings) -> None:
    async with open_agent(settings) as agent:
        talk = Talk(agent)
        await talk.say("你好")
        database = agent.services.database
        saver = make_checkpointer(database, settings)
        copy = uuid4().hex
        await saver.acopy_thread(talk.thread_id, copy)
        state = await agent.graph.aget_state({"configurable": {"thread_id": copy}})
        assert state.values["answer"]
        await saver.adelete_thread(copy)
        assert await saver.aget_tuple({"configurable": {"thread_id": copy}}) is None


async def test_langchains_vector_store_prepares_nothing(settings: Settings, embedder: LocalEmbedder) -> None:
    async with (
        open_agent(settings) as agent,
        user_retriever(agent.services.database, embedder, "user_123") as retriever,
    ):
        for _ in range(12):  # psycopg prepares a statement once it has been run five times
            await asyncio.gather(*(retriever.ainvoke("周六送货") for _ in range(3)))


def test_the_command_line_and_a_worker_of_its_own(settings: Settings, tmp_path: Path) -> None:
    assert settings.database_url is not None
    steward = Steward(
        tmp_path,
        database_url=settings.database_url.get_secret_value(),
        steward_pgbouncer="on",
        steward_worker="external",
    )
    said = steward.chat("我对花生过敏")
    assert said["answer"]
    assert steward.run("worker", "--once").returncode == 0
    assert "花生" in steward.run("memory", "list", "--user", "user_123").stdout
    doctor = steward.run("doctor")
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr
