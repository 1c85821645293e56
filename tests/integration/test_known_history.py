"""A process that knows a thread's history reads what any other process reads, whatever has become of the thread."""

from __future__ import annotations

import random
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig

from memory.database import Database
from memory.folded_turns import fold_turns
from memory.thread_retention import delete_threads
from tests.integration.test_folded_turns import Graph, contents, make_graph, say

THREAD: RunnableConfig = {"configurable": {"thread_id": "t"}}
STEPS = 25


async def edit(graph: Graph, dice: random.Random) -> None:
    """A message is replaced or taken out, or one comes in, at the thread's end."""
    messages = (await graph.aget_state(THREAD)).values.get("messages", [])
    chosen = dice.choice(messages).id if messages else None
    edits: list[Any] = [HumanMessage(f"brought in {dice.random()}")]
    if chosen:
        edits += [RemoveMessage(id=chosen), AIMessage(f"edited {dice.random()}", id=chosen)]
    await graph.aupdate_state(THREAD, {"messages": [dice.choice(edits)]}, as_node="answer")


async def somewhere(graph: Graph, dice: random.Random) -> RunnableConfig:
    """Any checkpoint of the thread, or its end."""
    configs = [snapshot.config async for snapshot in graph.aget_state_history(THREAD)]
    return dice.choice([THREAD, *configs])


def opened(database: Database, key: str | None, snapshot_every: int | None) -> Graph:
    """A process's graph; its messages are stored whole after so many updates."""
    graph = make_graph(database, key)
    if snapshot_every:
        graph.channels["messages"].snapshot_frequency = snapshot_every
    return graph


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    ("key", "every"),
    [(None, None), ("a key of some length", None), (None, 5)],
    ids=["open", "encrypted", "stored whole now and then"],
)
async def test_two_processes_in_turn_read_what_a_third_one_reads(
    database: Database, seed: int, key: str | None, every: int | None
) -> None:
    dice = random.Random(seed)
    processes = [opened(database, key, every), opened(database, key, every)]
    for step in range(STEPS):
        graph = dice.choice(processes)
        what = dice.choices(["say", "fork", "edit", "fold", "erase"], weights=[8, 3, 3, 3, 0.3])[0]
        if what == "say":
            await say(graph, f"message {step}")
        elif what == "fork":
            await say(graph, f"aside {step}", await somewhere(graph, dice))
        elif what == "edit":
            await edit(graph, dice)
        elif what == "fold":
            await fold_turns(database, ["t"], whole=dice.randint(1, 3))
        else:
            await delete_threads(database, ["t"])
        fresh = opened(database, key, every)
        place = await somewhere(fresh, dice)
        for config in (THREAD, place):
            expected = await contents(fresh, config)
            assert [await contents(process, config) for process in processes] == [expected] * 2, (step, what)
