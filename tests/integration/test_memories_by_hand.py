"""Memories corrected and forgotten one by one, by a person who looks at the list."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory.business_state import BusinessState
from memory.database import Database
from memory.embeddings import LocalEmbedder
from memory.errors import InvalidInput
from memory.memory_writer import MemoryWriter, NewMemory
from memory.store import forget_key, forget_memories, list_memories, set_memory
from memory.user_lock import lock_user
from tests.support.memory import MAY

USER = "user_123"


async def told(database: Database, embedder: LocalEmbedder, *said: tuple[str, str]) -> None:
    for number, (key, content) in enumerate(said):
        vector = (await embedder.embed([content]))[0]
        memory = NewMemory(key, content, "preference", MAY + timedelta(days=number), vector)
        async with database.transaction() as connection:
            await lock_user(connection, USER)
            await MemoryWriter(connection, USER, embedder.name).write([memory])


async def valid(database: Database) -> dict[str, str]:
    return {memory.key: memory.content for memory in await list_memories(database, USER)}


async def test_what_is_set_is_kept_under_the_key_it_is_given_also_where_it_replaces_another(
    database: Database, embedder: LocalEmbedder
) -> None:
    await told(database, embedder, ("delivery_day", "No Saturday deliveries"))
    kept = await set_memory(
        database, embedder, USER, "Saturday Rule", "Saturday deliveries, call 13812345678"
    )
    assert kept.key == "saturday_rule"
    assert "13812345678" not in kept.content
    assert await valid(database) == {"saturday_rule": kept.content}


async def test_setting_the_same_words_again_sets_everything_else(
    database: Database, embedder: LocalEmbedder
) -> None:
    await set_memory(database, embedder, USER, "tea", "Likes green tea", importance=0.9)
    kept = await set_memory(
        database,
        embedder,
        USER,
        "tea",
        "Likes green tea",
        type="preference",
        importance=0.2,
        domains=["order"],
    )
    assert (kept.type, kept.domains) == ("preference", ("order",))
    assert kept.importance == pytest.approx(0.2)
    assert await valid(database) == {"tea": "Likes green tea"}


async def test_a_state_of_the_business_is_not_set_by_hand(
    database: Database, embedder: LocalEmbedder
) -> None:
    await BusinessState(database, embedder).put(USER, "return:ABC-1", "退货处理中", expires_at=None)
    with pytest.raises(InvalidInput, match="business"):
        await set_memory(database, embedder, USER, "return:ABC-1", "退货完成")
    assert await valid(database) == {"return:ABC-1": "退货处理中"}


async def test_what_a_memory_replaced_is_forgotten_with_it_whatever_it_was_called(
    database: Database, embedder: LocalEmbedder
) -> None:
    await told(
        database,
        embedder,
        ("delivery_day", "No Saturday deliveries"),
        ("delivery_day", "Saturday deliveries please"),
        ("shoe_size", "Wears size 42"),
    )
    await set_memory(database, embedder, USER, "saturday", "Saturday deliveries are fine")
    assert len(await database.fetch("SELECT FROM user_memory")) == 4
    assert await forget_key(database, USER, "saturday") == 3
    assert await forget_key(database, USER, "saturday") == 0
    rows = await database.fetch("SELECT memory_key FROM user_memory")
    assert rows == [{"memory_key": "shoe_size"}]


async def test_forgetting_all_memories_leaves_no_history(database: Database, embedder: LocalEmbedder) -> None:
    await told(database, embedder, ("size", "Wears size 42"), ("size", "Wears size 43"))
    await set_memory(database, embedder, "user_456", "size", "Wears size 40")
    assert await forget_memories(database, USER) == 2
    rows = await database.fetch("SELECT user_id FROM user_memory")
    assert rows == [{"user_id": "user_456"}]
