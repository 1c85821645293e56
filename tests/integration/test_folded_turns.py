"""Older turns of a thread are folded to their ends: nothing said is lost, and every end can be gone on from."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import START, StateGraph
from langgraph.graph.message import _messages_delta_reducer
from langgraph.graph.state import CompiledStateGraph

from memory.checkpoints import make_checkpointer
from memory.database import Database
from memory.folded_turns import fold_all_turns, fold_turns
from memory.settings import MemorySettings

TURNS = 7
WHOLE = 2
Graph = CompiledStateGraph[Any, Any, Any, Any]
THREAD: RunnableConfig = {"configurable": {"thread_id": "t"}}
COUNTS = """
SELECT (SELECT count(*) FROM checkpoints) AS checkpoints, (SELECT count(*) FROM checkpoint_blobs) AS blobs,
       (SELECT count(*) FROM checkpoint_writes) AS writes
"""


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer)]
    facts: dict[str, Any]
    parts: list[str]


def text_of(state: State) -> str:
    return str([m for m in state["messages"] if isinstance(m, HumanMessage)][-1].content)


def left(state: State) -> State:
    return {"messages": [AIMessage("aside", id=f"aside of {text_of(state)}")], "parts": ["left"]}


def right(state: State) -> State:
    return {"messages": [AIMessage(f"thinking of {text_of(state)}")]}


def answer(state: State) -> State:
    text = text_of(state)
    return {
        "messages": [RemoveMessage(id=f"aside of {text}"), AIMessage(f"re: {text}")],
        "facts": {"last": text},
    }


def make_graph(database: Database, key: str | None = None) -> Graph:
    builder = StateGraph(State).add_node("left", left).add_node("right", right).add_node("answer", answer)
    builder.add_edge(START, "left").add_edge(START, "right").add_edge(["left", "right"], "answer")
    settings = MemorySettings(_env_file=None, steward_encryption_key=key)
    return builder.compile(checkpointer=make_checkpointer(database, settings))


async def say(graph: Graph, text: str, config: RunnableConfig = THREAD) -> None:
    await graph.ainvoke({"messages": [HumanMessage(text)]}, config)


def turn(text: str) -> list[str]:
    return [text, f"thinking of {text}", f"re: {text}"]


def talk(*texts: str) -> list[str]:
    return [line for text in texts for line in turn(text)]


async def contents(graph: Graph, config: RunnableConfig = THREAD) -> list[str]:
    state = await graph.aget_state(config)
    return [str(message.content) for message in state.values.get("messages", [])]


async def ends(graph: Graph) -> dict[str, RunnableConfig]:
    """The end of each turn that the history still shows, by what was said last."""
    found: dict[str, RunnableConfig] = {}
    async for snapshot in graph.aget_state_history(THREAD):
        if not snapshot.next and "facts" in snapshot.values:
            found.setdefault(snapshot.values["facts"]["last"], snapshot.config)
    return found


async def counts(database: Database) -> dict[str, int]:
    row = await database.fetch_one(COUNTS)
    assert row
    return dict(row)


@pytest.fixture(params=[None, "a key of sixteen or more"], ids=["plain", "encrypted"])
async def graph(request: pytest.FixtureRequest, database: Database) -> Graph:
    """After seven turns, all but two of them folded."""
    graph = make_graph(database, request.param)
    for number in range(1, TURNS + 1):
        await say(graph, f"{number}")
    before = await counts(database)
    assert await fold_turns(database, ["t"], whole=WHOLE) > 0
    after = await counts(database)
    assert after["checkpoints"] < before["checkpoints"]
    assert after["blobs"] < before["blobs"]
    assert after["writes"] == before["writes"], "what was said is all that is left of them"
    return graph


async def test_all_that_was_said_stays_at_every_turns_end(graph: Graph) -> None:
    numbers = [f"{number}" for number in range(1, TURNS + 1)]
    found = await ends(graph)
    assert set(found) == set(numbers)
    for number in numbers:
        assert await contents(graph, found[number]) == talk(*numbers[: int(number)])


async def test_the_latest_turns_keep_their_steps(graph: Graph) -> None:
    steps = [snapshot.next async for snapshot in graph.aget_state_history(THREAD)]
    assert steps[: 4 * WHOLE] == [(), ("answer",), ("left", "right"), ("__start__",)] * WHOLE


async def test_the_conversation_goes_on_and_is_folded_again(graph: Graph, database: Database) -> None:
    for number in range(8, 11):
        await say(graph, f"{number}")
        await fold_turns(database, ["t"], whole=WHOLE)
    numbers = [f"{number}" for number in range(1, 11)]
    assert await contents(graph) == talk(*numbers)
    for number, config in (await ends(graph)).items():
        assert await contents(graph, config) == talk(*numbers[: int(number)])
    size = await counts(database)
    await fold_turns(database, ["t"], whole=WHOLE)
    assert await counts(database) == size


async def test_a_fork_from_a_folded_turn_leaves_both_branches_right(graph: Graph, database: Database) -> None:
    third = (await ends(graph))["3"]
    await say(graph, "other", third)
    assert await contents(graph) == talk("1", "2", "3", "other")
    for number in range(3):
        await say(graph, f"more {number}")
    await fold_turns(database, ["t"], whole=0)
    branch = talk("1", "2", "3", "other", "more 0", "more 1", "more 2")
    assert await contents(graph) == branch
    found = await ends(graph)
    assert await contents(graph, found["7"]) == talk("1", "2", "3", "4", "5", "6", "7")
    assert await contents(graph, found["4"]) == talk("1", "2", "3", "4")


async def test_the_state_of_a_folded_turn_can_be_updated(graph: Graph) -> None:
    third = (await ends(graph))["3"]
    updated = await graph.aupdate_state(third, {"messages": [AIMessage("by staff")]}, as_node="answer")
    assert await contents(graph, updated) == [*talk("1", "2", "3"), "by staff"]
    assert await contents(graph, (await ends(graph))["7"]) == talk("1", "2", "3", "4", "5", "6", "7")


async def test_a_turn_that_was_branched_off_from_keeps_its_steps(database: Database) -> None:
    graph = make_graph(database)
    for number in range(1, 4):
        await say(graph, f"{number}")
    history = [snapshot async for snapshot in graph.aget_state_history(THREAD)]
    inside = next(
        s for s in history if s.next == ("answer",) and s.values["messages"][-1].content.endswith("2")
    )
    await graph.ainvoke(None, inside.config)
    for number in range(4, 7):
        await say(graph, f"{number}")
    await fold_turns(database, ["t"], whole=0)
    assert await contents(graph) == talk("1", "2", "4", "5", "6")
    assert [s.config async for s in graph.aget_state_history(THREAD) if s.config == inside.config]
    assert await contents(graph, (await ends(graph))["3"]) == talk("1", "2", "3")


async def test_nothing_is_folded_while_a_turn_runs(database: Database) -> None:
    graph = make_graph(database)
    for number in range(1, 7):
        await say(graph, f"{number}")
    await database.execute("INSERT INTO thread_lease VALUES ('t', 'somebody', now() + interval '1 minute')")
    assert await fold_all_turns(database) == 0
    await database.execute("DELETE FROM thread_lease")
    assert await fold_all_turns(database) > 0
    assert await fold_all_turns(database) == 0
    assert await contents(graph) == talk("1", "2", "3", "4", "5", "6")
