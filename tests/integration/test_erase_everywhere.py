"""Erasing a user reaches every table there is, those of later migrations included."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from graph import AgentContext, Settings, open_agent
from graph.personal_data import LEDGERS, erase
from memory.database import Database
from memory.erase import MEMORY, find_traces
from nodes.call_model import call_model
from nodes.run import Run
from nodes.state import AgentState
from tools.ledger import ERASURE as TOOL_CALLS

OF_A_USER = """
SELECT DISTINCT table_name
  FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
 WHERE table_type = 'BASE TABLE' AND table_schema = 'public' AND column_name IN ('user_id', 'thread_id', 'session_id')
 ORDER BY table_name
"""
FEEDBACK = """
INSERT INTO turn_feedback (turn_id, thread_id, user_id, rating, reason, by_role)
VALUES ('turn-x', %s, %s, 'bad', %s, 'customer')
"""
SHORT_LIVED = {"thread_lease"}
"""Rows that go with the turn that made them."""
USER, THREAD, MARKER = "zanzibar-user 😀", "zanzibar-thread", "zanzibarblau"


async def test_every_table_that_knows_of_users_is_reached(database: Database) -> None:
    statements = " ".join(part for share in (MEMORY, LEDGERS, TOOL_CALLS) for part in share.statements)
    tables = {row["table_name"] for row in await database.fetch(OF_A_USER)}
    assert {"user_memory", "tool_call", "token_usage", "checkpoints"} <= tables
    assert {table for table in tables - SHORT_LIVED if table not in statements.split()} == set()


async def test_a_turn_that_runs_while_its_user_is_erased_brings_nothing_back(
    database_url: str, tmp_path: Path
) -> None:
    settings = Settings(
        _env_file=None,  # type: ignore[call-arg]
        database_url=database_url,
        steward_home=tmp_path,
        steward_worker="external",
        steward_idle_seconds=0,
        steward_local_router="off",
    )
    answering, erasing = asyncio.Event(), asyncio.Event()

    async def slow(state: AgentState, run: Run) -> AgentState:
        answering.set()
        await erasing.wait()
        return await call_model(state, run)

    async with open_agent(settings, stages={"call_model": slow}) as agent:
        said = {"messages": [("user", f"我对{MARKER}过敏")]}
        config: Any = {"configurable": {"thread_id": THREAD}}
        turn = asyncio.create_task(agent.graph.ainvoke(said, config, context=AgentContext(user_id=USER)))
        await answering.wait()
        erasure = asyncio.create_task(erase(agent.services.database, USER))
        await asyncio.wait([erasure], timeout=1)
        assert not erasure.done(), "it waits for the turn"
        erasing.set()
        assert (await turn)["answer"]
        assert await erasure > 0
        assert await agent.worker.drain(timeout=20)
        await agent.services.usage.flush()
        for trace in (MARKER, USER, THREAD):
            assert await find_traces(agent.services.database, trace) == []


async def test_whole_conversations_leave_nothing_once_their_user_is_erased(
    database_url: str, tmp_path: Path
) -> None:
    settings = Settings(
        _env_file=None,  # type: ignore[call-arg]
        database_url=database_url,
        steward_home=tmp_path,
        steward_worker="external",
        steward_idle_seconds=0,
        steward_local_router="off",
    )
    config: Any = {"configurable": {"thread_id": THREAD}}
    async with open_agent(settings) as agent:
        for said in (f"我对{MARKER}过敏，以后周六送货", f"Where is order {MARKER}-20240520-001?"):
            context = AgentContext(user_id=USER)
            await agent.graph.ainvoke({"messages": [("user", said)]}, config, context=context)
        database = agent.services.database
        await database.execute(FEEDBACK, (THREAD, USER, MARKER))
        assert await agent.worker.drain(timeout=20)
        said_again = {"messages": [("user", f"{MARKER} once more")]}
        await agent.graph.ainvoke(said_again, config, context=AgentContext(user_id=USER))
        await agent.services.usage.flush()
        assert {"public.session_turn.customer", "public.procrastinate_jobs.args"} & set(
            await find_traces(database, MARKER)
        )
        assert await erase(database, USER) > 0
        for trace in (MARKER, USER, THREAD):
            assert await find_traces(database, trace) == []
        assert await agent.worker.drain(timeout=20), "nothing that is left brings anything back"
        assert await find_traces(database, MARKER) == []
