"""Checkpoints: what a thread holds comes back, is encrypted on demand, can be copied, rolled back and erased."""

from __future__ import annotations

import asyncio
import warnings
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import START, StateGraph
from langgraph.graph.message import _messages_delta_reducer
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, interrupt
from pydantic import ValidationError

from memory.checkpoints import CheckpointSaver, make_checkpointer
from memory.database import Database
from memory.errors import ConfigurationError, DatabaseUnavailable
from memory.settings import MemorySettings
from memory.thread_retention import delete_threads, expired_threads

SECRET = "花生过敏 13800138000"
TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
Graph = CompiledStateGraph[Any, Any, Any, Any]


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer)]
    summary: str
    seen: int
    facts: dict[str, Any]


def answer(state: State) -> State:
    text = str(state["messages"][-1].content)
    if text == "ask":
        text = interrupt("which one?")
    return {
        "messages": [AIMessage(f"re: {text}")],
        "summary": f"so far: {text}",
        "seen": state.get("seen", 0) + 1,
        "facts": {"last": text},
    }


def make_settings(key: str | None = None) -> MemorySettings:
    return MemorySettings(_env_file=None, steward_encryption_key=key)


def make_graph(database: Database, key: str | None = None) -> Graph:
    builder = StateGraph(State).add_node("answer", answer).add_edge(START, "answer")
    return builder.compile(checkpointer=make_checkpointer(database, make_settings(key)))


def thread(name: str, **metadata: str) -> RunnableConfig:
    return {"configurable": {"thread_id": name}, "metadata": metadata}


def said(*texts: str) -> State:
    return {"messages": [HumanMessage(text) for text in texts]}


async def contents(graph: Graph, name: str) -> list[str]:
    state = await graph.aget_state(thread(name))
    return [str(message.content) for message in state.values.get("messages", [])]


async def stored(database: Database) -> bytes:
    """All bytes of all checkpoint tables."""
    found = b""
    for query in (
        "SELECT t::text AS row, ''::bytea AS blob FROM checkpoints t",
        "SELECT channel AS row, blob FROM checkpoint_blobs",
        "SELECT channel AS row, blob FROM checkpoint_writes",
    ):
        for row in await database.fetch(query):
            found += row["row"].encode() + (row["blob"] or b"")
    return found


async def test_a_thread_comes_back_through_another_saver_without_warnings(database: Database) -> None:
    await make_graph(database).ainvoke(said("你好"), thread("t"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        state = await make_graph(database).aget_state(thread("t"))
    assert [type(message) for message in state.values["messages"]] == [HumanMessage, AIMessage]
    assert state.values["facts"] == {"last": "你好"}


async def test_what_is_not_a_message_or_json_is_not_brought_to_life(database: Database) -> None:
    serde = make_checkpointer(database, make_settings()).serde
    kind, data = serde.dumps_typed(MemorySettings(_env_file=None))
    assert not isinstance(serde.loads_typed((kind, data)), MemorySettings)


async def test_with_a_key_no_text_of_the_thread_is_stored_in_the_open(database: Database) -> None:
    graph = make_graph(database, "a key of sixteen or more")
    await graph.ainvoke(said(SECRET), thread("t"))
    await graph.ainvoke(said("ask"), thread("t"))
    everything = await stored(database)
    for secret in (SECRET, "花生", "13800138000", "so far"):
        assert secret.encode() not in everything
        assert secret.encode("unicode_escape") not in everything
    state = await make_graph(database, "a key of sixteen or more").aget_state(thread("t"))
    assert state.values["summary"] == f"so far: {SECRET}"
    assert state.values["seen"] == 1
    assert state.interrupts[0].value == "which one?"


async def test_without_a_key_that_text_is_found(database: Database) -> None:
    """Guards the search above: it finds what is there."""
    await make_graph(database).ainvoke(said(SECRET), thread("t"))
    assert SECRET.encode() in await stored(database)


async def test_a_key_set_later_keeps_what_was_stored_before(database: Database) -> None:
    await make_graph(database).ainvoke(said("one"), thread("t"))
    graph = make_graph(database, "a key of sixteen or more")
    await graph.aupdate_state(thread("t"), {"facts": {"by": "staff"}})
    state = await graph.aget_state(thread("t"))
    assert state.values["summary"] == "so far: one"
    assert state.values["seen"] == 1
    assert await contents(graph, "t") == ["one", "re: one"]


async def test_another_key_or_none_is_told_by_name(database: Database) -> None:
    await make_graph(database, "a key of sixteen or more").ainvoke(said("one"), thread("t"))
    with pytest.raises(ConfigurationError, match="does not open with STEWARD_ENCRYPTION_KEY"):
        await make_graph(database, "another key, long enough").aget_state(thread("t"))
    with pytest.raises(ConfigurationError, match="set STEWARD_ENCRYPTION_KEY"):
        await make_graph(database).aget_state(thread("t"))


def test_a_short_key_is_refused_and_not_repeated() -> None:
    with pytest.raises(ValidationError, match="shorter than 16") as refused:
        make_settings("tangerine")
    assert "tangerine" not in str(refused.value)


async def test_a_copied_thread_goes_on_by_itself(database: Database) -> None:
    graph = make_graph(database)
    await graph.ainvoke(said("one"), thread("source"))
    await graph.ainvoke(said("ask"), thread("source"))
    saver = graph.checkpointer
    assert isinstance(saver, CheckpointSaver)
    await saver.acopy_thread("source", "target")
    await graph.ainvoke(Command(resume="the blue one"), thread("target"))
    assert await contents(graph, "target") == ["one", "re: one", "ask", "re: the blue one"]
    assert await contents(graph, "source") == ["one", "re: one", "ask"]


async def test_a_run_rolled_back_leaves_the_thread_as_before(database: Database) -> None:
    graph = make_graph(database)
    await graph.ainvoke(said("one"), thread("t", run_id="r1"))
    before = await stored(database)
    await graph.ainvoke(said("two"), thread("t", run_id="r2"))
    saver = graph.checkpointer
    assert isinstance(saver, CheckpointSaver)
    await saver.adelete_for_runs(["r2"])
    assert await contents(graph, "t") == ["one", "re: one"]
    assert sorted(await stored(database)) == sorted(before)
    await graph.ainvoke(said("three"), thread("t", run_id="r3"))
    assert await contents(graph, "t") == ["one", "re: one", "three", "re: three"]


async def test_a_run_that_a_later_one_has_built_on_is_kept(database: Database) -> None:
    graph = make_graph(database)
    await graph.ainvoke(said("one"), thread("t", run_id="r1"))
    await graph.ainvoke(said("two"), thread("t", run_id="r2"))
    saver = graph.checkpointer
    assert isinstance(saver, CheckpointSaver)
    await saver.adelete_for_runs(["r1"])
    assert await contents(graph, "t") == ["one", "re: one", "two", "re: two"]


async def test_erased_threads_leave_no_row_and_others_stay(database: Database) -> None:
    graph = make_graph(database)
    for name in ("a", "b", "用户 😀 %_"):
        await graph.ainvoke(said("one"), thread(name))
    assert await delete_threads(database, ["a", "用户 😀 %_", "unknown"]) > 0
    for query in (
        "SELECT DISTINCT thread_id FROM checkpoints",
        "SELECT DISTINCT thread_id FROM checkpoint_blobs",
        "SELECT DISTINCT thread_id FROM checkpoint_writes",
    ):
        assert {row["thread_id"] for row in await database.fetch(query)} == {"b"}


async def test_threads_expire_by_their_last_checkpoint(database: Database) -> None:
    graph = make_graph(database)
    await graph.ainvoke(said("one"), thread("old"))
    await graph.ainvoke(said("one"), thread("new"))
    past = (datetime.now(UTC) - timedelta(days=40)).isoformat()
    age = "UPDATE checkpoints SET checkpoint = jsonb_set(checkpoint, '{ts}', to_jsonb(%s::text)) WHERE thread_id = %s"
    await database.execute(age, (past, "old"))
    assert await expired_threads(database, days=30) == ["old"]
    assert await expired_threads(database, days=50) == []


async def test_one_connection_is_enough_for_twenty_turns_at_once(database_url: str) -> None:
    async with Database(database_url, size=1) as database:
        graph = make_graph(database)
        await asyncio.gather(*(graph.ainvoke(said("hi"), thread(f"t{i}")) for i in range(20)))
        assert await contents(graph, "t19") == ["hi", "re: hi"]


async def test_a_closed_pool_is_an_error_of_the_house(database_url: str) -> None:
    async with Database(database_url, size=1) as database:
        graph = make_graph(database)
    with pytest.raises(DatabaseUnavailable):
        await graph.ainvoke(said("hi"), thread("t"))
