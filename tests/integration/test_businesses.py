"""Several businesses in one process and on one database: what one keeps, another never sees."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from pydantic import SecretStr

from graph import AgentContext, Settings, open_agent
from graph.doctor import examine
from graph.open import Agent
from memory.errors import ConfigurationError, SchemaError
from memory.store import list_memories, set_memory
from nodes.business import Business, Intent
from tools.declare import tool
from tools.knowledge_search import knowledge_search
from tools.spec import ToolContext

HELLO = {"messages": [("user", "hello")]}
THREAD: Any = {"configurable": {"thread_id": "t1"}}
USER = AgentContext(user_id="u1")


@tool
async def opening_hours(context: ToolContext) -> dict[str, str]:
    """When the business is open."""
    return {"hours": "8 to 18"}


def business(name: str, documents: Path | None = None) -> Business:
    tools = [opening_hours, *([knowledge_search("everything")] if documents else [])]
    intent = Intent("chat", "Anything.", tools=tuple(spec.name for spec in tools))
    return Business(name, "Help.", [intent], tools, documents=documents)


@pytest.fixture
def settings(empty_database_url: str, tmp_path: Path) -> Settings:
    values: dict[str, Any] = {"database_url": empty_database_url, "steward_home": tmp_path}
    return Settings(_env_file=None, steward_worker="external", **values)


def documents(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "rules.md").write_text(f"# Rules\n\n## Visits\n\n{text}\n", encoding="utf-8")
    return folder


async def texts(agent: Agent) -> list[str]:
    state = await agent.graph.aget_state(THREAD)
    return [message.text for message in state.values.get("messages", [])]


async def test_two_businesses_share_a_database_and_nothing_else(settings: Settings, tmp_path: Path) -> None:
    desk = business("desk", documents(tmp_path / "desk", "Visits last twenty minutes."))
    garage = business("garage", documents(tmp_path / "garage", "Visits last three days."))
    async with open_agent(settings, desk) as first, open_agent(settings, garage) as second:
        await first.graph.ainvoke(HELLO, THREAD, context=USER)
        await set_memory(
            first.services.database, first.services.embedder, "u1", "allergy", "Allergic to nuts."
        )
        assert len(await texts(first)) == 2
        assert await texts(second) == []
        assert await list_memories(second.services.database, "u1") == []
        for agent, wanted in ((first, "twenty minutes"), (second, "three days")):
            knowledge = agent.services.engine._runner._knowledge
            found = await knowledge.search("How long are visits?", 3)
            assert [passage.text for passage in found if wanted in passage.text] == [p.text for p in found]
    async with open_agent(settings, desk) as again:
        assert len(await texts(again)) == 2, "its documents and its conversation outlive the other's start"


async def test_the_first_business_has_the_public_schema_and_keeps_it(settings: Settings) -> None:
    for name in ("desk", "garage", "desk"):
        async with open_agent(settings, business(name)) as agent:
            row = await agent.services.database.fetch_one("SELECT current_schema() AS name")
            assert row == {"name": "public" if name == "desk" else "steward_garage"}


async def test_businesses_that_start_at_once_each_find_their_place(settings: Settings) -> None:
    async def start(name: str) -> str:
        async with open_agent(settings, business(name)) as agent:
            row = await agent.services.database.fetch_one("SELECT current_schema() AS name")
            assert row
            return str(row["name"])

    names = ["desk", "garage", "desk", "garage"]
    places = await asyncio.gather(*map(start, names))
    assert places.count("public") == 2
    assert len({(name, place) for name, place in zip(names, places, strict=True)}) == 2


async def test_each_business_has_its_own_worker_do_its_jobs(settings: Settings) -> None:
    async with (
        open_agent(settings, business("desk")) as first,
        open_agent(settings, business("garage")) as second,
    ):
        await first.graph.ainvoke(HELLO, THREAD, context=USER)
        assert await second.worker.drain(timeout=20)
        assert (await first.services.queue.depth())["todo"] == 1
        await second.graph.ainvoke(HELLO, THREAD, context=USER)
        for agent in (first, second):
            assert await agent.worker.drain(timeout=60)
            assert set(await agent.services.queue.depth()) <= {"todo"}, "nothing failed; a snapshot waits"
            row = await agent.services.database.fetch_one("SELECT count(*) AS turns FROM session_turn")
            assert row == {"turns": 1}


async def test_the_doctor_makes_nothing_where_a_business_has_never_been_opened(settings: Settings) -> None:
    async with open_agent(settings, business("desk")):
        pass
    findings = {finding.name: finding for finding in await examine(settings, business("garage"))}
    assert "start the agent once" in findings["database"].cure
    async with open_agent(settings, business("garage")):
        pass
    findings = {finding.name: finding for finding in await examine(settings, business("garage"))}
    assert findings["schema"].detail == "current, in steward_garage"


async def test_a_user_who_may_not_make_tables_is_told_what_to_grant(
    settings: Settings, empty_database_url: str
) -> None:
    role = f"reader_{uuid4().hex[:12]}"
    with psycopg.connect(empty_database_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
    try:
        url = empty_database_url.replace("postgres@", f"{role}@", 1)
        reader = settings.model_copy(update={"database_url": SecretStr(url)})
        with pytest.raises(SchemaError, match="grant CREATE"):
            async with open_agent(reader, business("desk")):
                pass
    finally:
        with psycopg.connect(empty_database_url, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))


async def test_through_pgbouncer_a_second_business_asks_for_a_database_of_its_own(settings: Settings) -> None:
    async with open_agent(settings, business("desk")):
        pass
    bounced = settings.model_copy(update={"steward_pgbouncer": "on"})
    with pytest.raises(SchemaError, match="a database of its own"):
        async with open_agent(bounced, business("garage")):
            pass


async def test_an_intent_that_lists_a_tool_by_a_wrong_name_stops_the_start(settings: Settings) -> None:
    wrong = Business("desk", "Help.", [Intent("chat", "Anything.", tools=("hours",))], [opening_hours])
    with pytest.raises(ConfigurationError, match=r"'chat' lists hours"):
        async with open_agent(settings, wrong):
            pass


@pytest.mark.parametrize("name", ["Clinic", "my-desk", "", "memory", "1st"])
def test_a_name_that_the_database_could_not_keep_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="cannot be called"):
        business(name)
