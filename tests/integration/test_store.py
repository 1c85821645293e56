"""Writing memories: conflicts, corrections by hand, business state, fading."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from memory.business_state import BusinessState
from memory.database import Database
from memory.embeddings import LocalEmbedder
from memory.errors import ConfigurationError, InvalidInput
from memory.export import export_user
from memory.extraction import Admitted, MemoryItem
from memory.maintenance import maintain
from memory.recall import RecallRequest, recall
from memory.reembed import check_embedding_model, reembed
from memory.settings import MemorySettings
from memory.store import forget_key, known_memories, list_memories, set_memory
from memory.turns import FinishedTurn, apply
from tests.support.memory import MAY, ODD_USERS, exchange, item

SETTINGS = MemorySettings(_env_file=None)


async def told(
    database: Database,
    embedder: LocalEmbedder,
    items: Sequence[MemoryItem],
    *,
    after: timedelta = timedelta(),
    turn: str | None = None,
    session: Sequence[MemoryItem] = (),
) -> int:
    name = turn or f"turn {after} {items[0].content if items else ''}"
    finished = FinishedTurn(exchange("…", after=after, turn=name), Admitted(tuple(items), tuple(session)))
    return (await apply(database, embedder, "user_123", [finished])).new


async def valid(database: Database) -> dict[str, str]:
    return {memory.key: memory.content for memory in await list_memories(database, "user_123", now=MAY)}


async def test_of_two_preferences_of_one_key_the_later_is_valid_and_the_earlier_kept_for_audit(
    database: Database, embedder: LocalEmbedder
) -> None:
    await told(database, embedder, [item("delivery_day", "No deliveries on Saturday")])
    june = timedelta(days=30)
    await told(database, embedder, [item("delivery_preference", "Wants deliveries on Saturday")], after=june)
    assert await valid(database) == {"delivery_day": "Wants deliveries on Saturday"}, "the known key stays"
    (old,) = await database.fetch(
        "SELECT old.content, old.valid_to, new.content AS successor FROM user_memory old"
        " JOIN user_memory new ON new.id = old.superseded_by"
    )
    assert old["content"] == "No deliveries on Saturday"
    assert old["successor"] == "Wants deliveries on Saturday"
    assert old["valid_to"] == MAY + june


async def test_saying_it_again_confirms_it(database: Database, embedder: LocalEmbedder) -> None:
    await told(database, embedder, [item("tea", "Likes green tea", domains=["consult"])])
    later = timedelta(days=9)
    again = item("tea", "likes green tea.", domains=["chat"], confidence=0.95)
    await told(database, embedder, [again], after=later)
    (memory,) = await list_memories(database, "user_123", now=MAY)
    assert memory.last_confirmed_at == MAY + later
    assert memory.created_at == MAY
    assert memory.domains == ("chat", "consult")


async def test_statements_of_one_turn_see_each_other(database: Database, embedder: LocalEmbedder) -> None:
    items = [item("delivery_day", "Deliver on Monday"), item("Delivery Day", "Deliver on Friday")]
    await told(database, embedder, items)
    assert await valid(database) == {"delivery_day": "Deliver on Friday"}


async def test_where_a_memory_comes_from_is_kept(database: Database, embedder: LocalEmbedder) -> None:
    await told(
        database, embedder, [item("tea", "Likes green tea", evidence="green tea please")], turn="turn-9"
    )
    (memory,) = await list_memories(database, "user_123", now=MAY)
    assert (memory.thread_id, memory.evidence) == ("t1", "green tea please")
    assert memory.message_id is not None


async def test_unsure_facts_stay_in_their_thread_and_the_latest_word_holds(
    database: Database, embedder: LocalEmbedder
) -> None:
    await told(
        database, embedder, [], session=[item("color", "Maybe blue")], turn="a", after=timedelta(hours=1)
    )
    await told(database, embedder, [], session=[item("color", "Maybe red")], turn="b")
    rows = await database.fetch("SELECT content FROM session_fact")
    assert [row["content"] for row in rows] == ["Maybe blue"]
    await told(database, embedder, [item("color", "Wants blue")], turn="c", after=timedelta(hours=2))
    assert await database.fetch("SELECT FROM session_fact") == [], "now it is known for good"


async def test_many_writers_of_one_user_leave_one_valid_memory_a_key(
    database: Database, embedder: LocalEmbedder
) -> None:
    await asyncio.gather(
        *(
            told(database, embedder, [item("door", f"Parcels go to door {n}")], after=timedelta(minutes=n))
            for n in range(12)
        )
    )
    assert await valid(database) == {"door": "Parcels go to door 11"}


async def test_a_memory_is_set_corrected_and_forgotten_by_hand(
    database: Database, embedder: LocalEmbedder
) -> None:
    await told(database, embedder, [item("shoe_size", "Wears size 42")], after=timedelta(days=400))
    await set_memory(database, embedder, "user_123", "Shoe Size", "Wears size 43", now=MAY)
    assert await valid(database) == {"shoe_size": "Wears size 43"}, "a hand overrules even a later word"
    assert await forget_key(database, "user_123", "shoe-size") == 2
    assert await valid(database) == {}
    assert await database.fetch("SELECT FROM user_memory") == [], "its history is gone too"


@pytest.mark.parametrize("user", ODD_USERS)
async def test_commands_touch_exactly_the_user_they_name(
    database: Database, embedder: LocalEmbedder, user: str
) -> None:
    for name in ("u", "u11", "u_11", user):
        await set_memory(database, embedder, name, "k", f"belongs to {name}")
    await forget_key(database, user, "k")
    assert await list_memories(database, user) == []
    assert [m.content for m in await list_memories(database, "u11")] == ["belongs to u11"]
    assert [k.content for k in await known_memories(database, "u_11", now=MAY)] == ["belongs to u_11"]


@pytest.mark.parametrize(
    ("user", "key", "content"),
    [
        ("", "k", "c"),
        ("a\x00", "k", "c"),
        ("\ud800", "k", "c"),
        ("u", "", "c"),
        ("u", "k", " "),
        ("u", "k", "x" * 5000),
    ],
)
async def test_what_cannot_be_stored_is_refused_in_words(
    database: Database, embedder: LocalEmbedder, user: str, key: str, content: str
) -> None:
    with pytest.raises(InvalidInput):
        await set_memory(database, embedder, user, key, content)


async def test_a_business_state_replaces_itself_and_expires(
    database: Database, embedder: LocalEmbedder
) -> None:
    state = BusinessState(database, embedder)
    day = timedelta(days=1)
    await state.put("user_123", "return:ABC-1", "退货申请已提交", expires_at=MAY + day, now=MAY)
    await state.put("user_123", "return:ABC-1", "退货处理中", expires_at=MAY + 2 * day, now=MAY)

    async def recalled(after: timedelta) -> list[str]:
        found = await recall(database, embedder, RecallRequest("user_123", "我的退货怎么样了", MAY + after))
        return [memory.content for memory in found]

    assert await recalled(timedelta()) == ["退货处理中"]
    assert await recalled(3 * day) == []
    await state.put("user_123", "return:ABC-1", "退货已完成", now=MAY + 3 * day)
    assert await recalled(4 * day) == ["退货已完成"]
    assert await state.clear("user_123", "return:ABC-1", now=MAY + 5 * day)
    assert not await state.clear("user_123", "return:ABC-1", now=MAY + 5 * day)
    assert await recalled(6 * day) == []
    await state.put("user_123", "return:ABC-1", "又退货", now=MAY + 7 * day)
    assert await recalled(8 * day) == ["又退货"]


async def test_an_extracted_item_never_overwrites_business_state(
    database: Database, embedder: LocalEmbedder
) -> None:
    await BusinessState(database).put("user_123", "return_status", "Return accepted", now=MAY)
    await told(database, embedder, [item("return_status", "My return is done")], after=timedelta(days=1))
    assert await valid(database) == {"return_status": "Return accepted"}


async def test_faded_memories_are_pruned_and_important_ones_stay(
    database: Database, embedder: LocalEmbedder
) -> None:
    await told(
        database,
        embedder,
        [
            item("plan", "Plans a party", type="decision", importance=0.3),
            item("allergy", "Allergic to nuts", type="fact", importance=0.9),
            item("tea", "Likes tea", importance=0.3),
        ],
    )
    await maintain(database, SETTINGS, now=MAY + timedelta(days=300))
    assert set(await valid(database)) == {"allergy", "tea"}, "decisions fade first"
    await maintain(database, SETTINGS, now=MAY + timedelta(days=600))
    assert set(await valid(database)) == {"allergy"}
    await maintain(database, SETTINGS, now=MAY + timedelta(days=800))
    assert await valid(database) == {}, "retention ends in the end"


async def test_another_embedding_model_is_refused_until_all_is_embedded_anew(
    database: Database, embedder: LocalEmbedder
) -> None:
    await told(database, embedder, [item("tea", "Likes green tea")])
    await check_embedding_model(database, embedder)
    await database.execute("UPDATE user_memory SET embedding_model = 'other', embedding = '[1,2,3]'")
    with pytest.raises(ConfigurationError, match="--reembed"):
        await check_embedding_model(database, embedder)
    found = await recall(database, embedder, RecallRequest("user_123", "green tea", MAY))
    assert len(found) == 1, "until then, words find it"
    assert await reembed(database, embedder) == 1
    await check_embedding_model(database, embedder)
    assert await reembed(database, embedder) == 0


async def test_the_export_holds_all_parts_as_json(database: Database, embedder: LocalEmbedder) -> None:
    await told(database, embedder, [item("tea", "Likes green tea")], session=[item("color", "Maybe blue")])
    exported = await export_user(database, "user_123")
    assert exported["memories"][0]["content"] == "Likes green tea"
    assert exported["session_facts"][0]["content"] == "Maybe blue"
    assert exported["sessions"][0]["thread_id"] == "t1"
    assert (await export_user(database, "user_12"))["memories"] == []


async def test_one_key_for_two_children_leaves_both_and_the_next_word_finds_its_own(
    database: Database, embedder: LocalEmbedder
) -> None:
    day = timedelta(days=1)
    for number, content in enumerate(["大宝上三年级", "二宝上四年级", "二宝上五年级"]):
        await told(database, embedder, [item("child_grade", content, type="fact")], after=number * day)
    assert await valid(database) == {"child_grade": "大宝上三年级", "child_grade.2": "二宝上五年级"}
    await set_memory(database, embedder, "user_123", "child_grade.2", "二宝转学了", now=MAY + 4 * day)
    assert await valid(database) == {"child_grade": "大宝上三年级", "child_grade.2": "二宝转学了"}


async def test_what_holds_this_week_ends_with_it_and_what_holds_for_good_stays(
    database: Database, embedder: LocalEmbedder
) -> None:
    await told(database, embedder, [item("delivery_address", "包裹寄到家里")])
    now = datetime.now(UTC)
    office = item("delivery_address", "这周包裹先寄到公司")
    await told(database, embedder, [office], after=now - MAY)
    kept = {memory.content for memory in await list_memories(database, "user_123", now=now)}
    assert kept == {"包裹寄到家里", "这周包裹先寄到公司"}
    later = {
        memory.content for memory in await list_memories(database, "user_123", now=now + timedelta(days=8))
    }
    assert later == {"包裹寄到家里"}
