"""Messages stored as differences come back whole, wherever the latest whole value stands."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import START, StateGraph
from langgraph.graph.message import _messages_delta_reducer, add_messages
from langgraph.graph.state import CompiledStateGraph

from memory.checkpoints import make_checkpointer
from memory.database import Database
from memory.settings import MemorySettings

Graph = CompiledStateGraph[Any, Any, Any, Any]
THREAD: RunnableConfig = {"configurable": {"thread_id": "t"}}
KEYS = pytest.mark.parametrize("key", [None, "k" * 32])


class Seldom(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer)]


class Often(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer, snapshot_frequency=3)]


class Whole(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]


async def answer(state: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [AIMessage(f"re: {state['messages'][-1].content}")]}


def graph_of(state: type[Any], database: Database, key: str | None) -> Graph:
    settings = MemorySettings(_env_file=None, steward_encryption_key=key)
    builder = StateGraph(state).add_node("answer", answer).add_edge(START, "answer")
    return builder.compile(checkpointer=make_checkpointer(database, settings))


async def say(graph: Graph, *texts: str) -> None:
    for text in texts:
        await graph.ainvoke({"messages": [HumanMessage(text)]}, THREAD)


async def contents(graph: Graph, config: RunnableConfig = THREAD) -> list[str]:
    return [str(message.content) for message in (await graph.aget_state(config)).values["messages"]]


def talk(*texts: str) -> list[str]:
    return [line for text in texts for line in (text, f"re: {text}")]


@KEYS
async def test_behind_snapshots_and_between_them(database: Database, key: str | None) -> None:
    graph = graph_of(Often, database, key)
    texts = [f"turn {n}" for n in range(7)]
    for n, text in enumerate(texts):
        await say(graph, text)
        assert await contents(graph) == talk(*texts[: n + 1])
    ends = [snapshot.config async for snapshot in graph.aget_state_history(THREAD) if not snapshot.next]
    for n, end in enumerate(reversed(ends)):
        assert await contents(graph, end) == talk(*texts[: n + 1])


@KEYS
async def test_of_a_thread_that_began_when_messages_were_stored_whole(
    database: Database, key: str | None
) -> None:
    await say(graph_of(Whole, database, key), "old", "older")
    graph = graph_of(Seldom, database, key)
    assert await contents(graph) == talk("old", "older")
    await say(graph, "new", "newer")
    assert await contents(graph) == talk("old", "older", "new", "newer")


async def test_of_a_fork_only_what_its_own_line_has(database: Database) -> None:
    graph = graph_of(Seldom, database, None)
    await say(graph, "one", "two")
    ends = [snapshot.config async for snapshot in graph.aget_state_history(THREAD) if not snapshot.next]
    await graph.ainvoke({"messages": [HumanMessage("other")]}, ends[1])
    assert await contents(graph) == talk("one", "other")
    assert await contents(graph, ends[0]) == talk("one", "two")
