"""One turn at a time on a thread, whoever runs it."""

from __future__ import annotations

import asyncio
import socket
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from langgraph.graph import START, StateGraph

from graph import Settings, open_agent
from memory.database import Database
from memory.errors import ThreadBusy
from memory.leases import ThreadLeases
from nodes.assemble_context import assemble_context
from nodes.run import Run
from nodes.state import AgentState
from tests.support.model_replies import Reply
from tests.support.model_server import ModelServer, RoleQueues
from tests.support.turns import QUIET, Talk, business


async def test_turns_on_a_thread_run_one_after_the_other_and_in_order(database: Database) -> None:
    leases = [ThreadLeases(database), ThreadLeases(database)]
    running = 0
    order: list[int] = []

    async def turn(n: int) -> None:
        nonlocal running
        async with leases[n % 2].hold("t", patience=20):
            running += 1
            assert running == 1
            await asyncio.sleep(0.02)
            order.append(n)
            running -= 1

    await asyncio.gather(*(turn(n) for n in range(8)))
    assert sorted(order) == list(range(8))
    assert [n for n in order if n % 2 == 0] == [0, 2, 4, 6]


async def test_other_threads_are_not_held_up(database: Database) -> None:
    leases = ThreadLeases(database)
    async with leases.hold("a", patience=0), leases.hold("b", patience=0):
        assert await database.fetch("SELECT thread_id FROM thread_lease")


@pytest.mark.parametrize("same_loop", [True, False])
async def test_without_patience_a_busy_thread_is_refused(database: Database, same_loop: bool) -> None:
    first = ThreadLeases(database)
    second = first if same_loop else ThreadLeases(database)
    async with first.hold("t", patience=0):
        with pytest.raises(ThreadBusy, match="send the message again"):
            async with second.hold("t", patience=0):
                pass
    async with second.hold("t", patience=0):
        pass


async def test_a_lease_that_could_not_be_given_back_holds_nobody_up(database_url: str) -> None:
    async with Database(database_url, size=1, wait_seconds=0.2) as database:
        leases = ThreadLeases(database)
        async with AsyncExitStack() as out_of_reach, leases.hold("t", patience=0):
            await out_of_reach.enter_async_context(database.connection())  # the only one
        async with leases.hold("t", patience=0):
            pass


async def test_the_lease_of_a_killed_process_is_free_at_once(database: Database) -> None:
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await child.wait()
    await database.execute(
        "INSERT INTO thread_lease VALUES ('t', %s, now() + interval '1 hour')",
        (f"{socket.gethostname()}:{child.pid}:x",),
    )
    async with asyncio.timeout(2), ThreadLeases(database).hold("t", patience=1):
        pass


async def test_a_graph_inside_a_stage_does_not_give_the_thread_back(
    database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    async def nothing(state: AgentState) -> AgentState:
        return {}

    builder = StateGraph(AgentState).add_node("nothing", nothing).add_edge(START, "nothing")
    inside = builder.compile(checkpointer=True)
    held: list[int] = []

    async def assembling(state: AgentState, run: Run) -> AgentState:
        await inside.ainvoke(state)
        held.append(len(await run.services.database.fetch("SELECT FROM thread_lease")))
        return await assemble_context(state, run)

    script.add("chat", Reply("Hello."))
    values = {"database_url": database_url, "steward_home": tmp_path, **QUIET, **server.settings()}
    settings = Settings(_env_file=None, **values)
    async with open_agent(settings, business([]), stages={"assemble_context": assembling}) as agent:
        assert (await Talk(agent).say("hello"))["answer"] == "Hello."
        left = await agent.services.database.fetch("SELECT FROM thread_lease")
        inner = await agent.services.database.fetch("SELECT FROM checkpoints WHERE checkpoint_ns <> ''")
    assert (held, left) == ([1], [])
    assert inner, "it has checkpoints of its own"
