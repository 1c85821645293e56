"""Erasing a user: nothing of them is left anywhere, and nothing comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import START, MessagesState, StateGraph

from memory.database import Database
from memory.embeddings import LocalEmbedder
from memory.erase import Erasure, find_traces, forget_user
from memory.errors import InvalidInput
from memory.extraction import Exchange, KnownMemory, MemoryItem
from memory.leases import ThreadLeases
from memory.queue import FoldRequest, MemoryQueue
from memory.settings import MemorySettings
from memory.store import list_memories, set_memory
from memory.worker import Worker
from tests.support.memory import ODD_USERS, ScriptedExtractor, ScriptedSummariser, exchange, item

SETTINGS = MemorySettings(_env_file=None, steward_idle_seconds=0)
SECRET = "zanzibarblau"


def make_worker(database: Database, embedder: LocalEmbedder, extractor: object = None) -> Worker:
    return Worker(database, embedder, extractor or ScriptedExtractor(), ScriptedSummariser(), SETTINGS)  # type: ignore[arg-type]


async def leave_traces(database: Database, embedder: LocalEmbedder, user: str, thread: str) -> None:
    """One of everything that is kept of a user."""
    queue = MemoryQueue(database)
    worker = make_worker(database, embedder)
    await queue.enqueue_turn(
        exchange(f"color = Loves {SECRET}", user=user, thread=thread, turn=f"{thread} 1")
    )
    await worker.drain(timeout=10)
    await set_memory(database, embedder, user, "color", f"Loves {SECRET} more")
    await queue.enqueue_fold(FoldRequest(user, thread, (("customer", SECRET),), "m1"))
    await worker.drain(timeout=10)
    await database.execute(
        "INSERT INTO session_fact (thread_id, fact_key, user_id, content, memory_type, said_at)"
        " VALUES (%s, 'k', %s, %s, 'fact', now())",
        (thread, user, SECRET),
    )
    await queue.enqueue_turn(exchange(f"{SECRET} again", user=user, thread=thread, turn=f"{thread} 2"))
    graph = StateGraph(MessagesState).add_node("n", lambda state: {}).add_edge(START, "n")
    async with database.pool.connection() as connection:
        saved = graph.compile(checkpointer=AsyncPostgresSaver(connection))
        await saved.ainvoke({"messages": [HumanMessage(SECRET)]}, {"configurable": {"thread_id": thread}})


@pytest.mark.parametrize("user", ["someone_77", "mei@example.com", "用户 '一' \"x\" 😀"])
async def test_no_column_of_any_table_holds_anything_of_an_erased_user(
    database: Database, embedder: LocalEmbedder, user: str
) -> None:
    await leave_traces(database, embedder, user, "thread-of-mine")
    await leave_traces(database, embedder, "somebody else", "thread-of-theirs")
    found = await find_traces(database, SECRET)
    assert {
        "public.user_memory.content",
        "public.procrastinate_jobs.args",
        "public.session_snapshot.summary",
    } <= set(found)
    assert any("checkpoint" in name for name in found)
    assert await forget_user(database, user) > 0
    assert await find_traces(database, user) == []
    assert await find_traces(database, "thread-of-mine") == []
    assert len(await list_memories(database, "somebody else")) == 1, "others keep theirs"
    await forget_user(database, "somebody else")
    assert await find_traces(database, SECRET) == []


async def test_a_running_job_cannot_bring_an_erased_user_back(
    database: Database, embedder: LocalEmbedder
) -> None:
    reading, erased = asyncio.Event(), asyncio.Event()

    async def slow(turn: Exchange, known: Sequence[KnownMemory], /) -> Sequence[MemoryItem]:
        reading.set()
        await erased.wait()
        return [item("color", f"Loves {SECRET}")]

    await MemoryQueue(database).enqueue_turn(exchange(f"Loves {SECRET}", user="someone_77"))
    draining = asyncio.create_task(make_worker(database, embedder, slow).drain(timeout=10))
    await asyncio.wait_for(reading.wait(), 10)
    await forget_user(database, "someone_77")
    erased.set()
    assert await draining
    assert await find_traces(database, SECRET) == []
    assert await find_traces(database, "someone_77") == []


async def test_a_job_that_is_queued_later_by_a_turn_begun_before_cannot_bring_an_erased_user_back(
    database: Database, embedder: LocalEmbedder
) -> None:
    queue = MemoryQueue(database)
    async with ThreadLeases(database).hold("t1", patience=0) as held:
        await forget_user(database, "someone_77")
        late = replace(exchange(f"color = {SECRET}", user="someone_77"), after_job=held.newest_job)
        await queue.enqueue_turn(late)
        fold = FoldRequest("someone_77", "t1", (("customer", SECRET),), "m1", after_job=held.newest_job)
        await queue.enqueue_fold(fold)
    worker = Worker(
        database, embedder, ScriptedExtractor(), ScriptedSummariser(), MemorySettings(_env_file=None)
    )
    assert await worker.drain(timeout=20)
    assert await find_traces(database, SECRET) == []
    assert await find_traces(database, "someone_77") == [], "nor is a summary waited for"
    async with ThreadLeases(database).hold("t1", patience=0) as held:
        new = replace(
            exchange("tea = Likes green tea", user="someone_77", turn="new"), after_job=held.newest_job
        )
        await queue.enqueue_turn(new)
    assert await worker.drain(timeout=20)
    assert len(await list_memories(database, "someone_77")) == 1, "what is said afterwards counts"


async def test_an_erased_user_who_writes_again_is_remembered_again(
    database: Database, embedder: LocalEmbedder
) -> None:
    await leave_traces(database, embedder, "user_123", "t1")
    await forget_user(database, "user_123")
    await MemoryQueue(database).enqueue_turn(exchange("tea = Likes green tea"))
    await make_worker(database, embedder).drain(timeout=10)
    assert [memory.content for memory in await list_memories(database, "user_123")] == ["Likes green tea"]


async def test_look_alike_users_are_not_erased_along(database: Database, embedder: LocalEmbedder) -> None:
    for user in ODD_USERS:
        await set_memory(database, embedder, user, "k", "kept")
    await forget_user(database, "u_1")
    for user in ODD_USERS:
        assert len(await list_memories(database, user)) == (0 if user == "u_1" else 1)


async def test_other_packages_erase_their_share_of_the_users_threads(
    database: Database, embedder: LocalEmbedder
) -> None:
    await database.execute("CREATE TABLE ledger (thread_id text, arguments text)")
    await database.execute("CREATE TABLE bill (user_id text, thread_id text)")
    await database.execute("INSERT INTO bill VALUES ('user_123', 't5')")
    await database.execute("INSERT INTO ledger VALUES ('t5', 'my address'), ('t6', 'theirs')")
    share = Erasure(
        threads=("SELECT thread_id FROM bill WHERE user_id = %(user_id)s",),
        statements=(
            "UPDATE ledger SET arguments = NULL WHERE thread_id = ANY(%(threads)s)",
            "DELETE FROM bill WHERE user_id = %(user_id)s",
        ),
    )
    await forget_user(database, "user_123", [share])
    rows = await database.fetch("SELECT arguments FROM ledger ORDER BY thread_id")
    assert [row["arguments"] for row in rows] == [None, "theirs"]


async def test_only_a_user_can_be_erased(database: Database) -> None:
    with pytest.raises(InvalidInput):
        await forget_user(database, "")
    assert await forget_user(database, "nobody") == 0
