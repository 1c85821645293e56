"""Recall: the right memories of the right user, nothing when nothing fits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from memory.database import Database
from memory.embeddings import Embedder, EmbeddingFailed, LocalEmbedder, Vectors
from memory.memory_writer import MemoryWriter, NewMemory
from memory.recall import IN_DOMAIN_FLOOR, Recalled, RecallRequest, recall, recall_for_turn
from memory.user_lock import lock_user
from tests.support.memory import MAY, ODD_USERS

FACTS = (
    ("order_brevity", "查订单时直接告诉我到哪了就行，不用说支付状态"),
    ("peanut_allergy", "对花生过敏"),
    ("invoice_title", "发票抬头是蓝港贸易公司"),
    ("delivery_day", "Wants parcels delivered on weekday evenings"),
    ("shoe_size", "Wears shoe size 42, wide fit"),
    ("daughter_grade", "女儿今年上三年级"),
    ("return_order", "订单 ABC-20240520-001 的杯子碎了，要退货"),
    ("pet", "Has a cat called Momo that needs grain-free food"),
)


def memory(key: str, content: str, *, domains: tuple[str, ...] = ("general",), **more: object) -> NewMemory:
    values = {"type": "fact", "said_at": MAY, "vector": None, **more}
    return NewMemory(key=key, content=content, domains=domains, **values)  # type: ignore[arg-type]


async def remember(database: Database, embedder: Embedder, user: str, memories: Sequence[NewMemory]) -> None:
    vectors = await embedder.embed([m.content for m in memories])
    filled = [
        NewMemory(**{**m.__dict__, "vector": vector}) for m, vector in zip(memories, vectors, strict=True)
    ]
    async with database.transaction() as connection:
        await lock_user(connection, user)
        await MemoryWriter(connection, user, embedder.name).write(filled)


async def ask(
    database: Database, embedder: Embedder, text: str, user: str = "user_123", **more: object
) -> list[Recalled]:
    request = RecallRequest(user, text, MAY + timedelta(days=1), **more)  # type: ignore[arg-type]
    return await recall(database, embedder, request)


QUESTIONS = (
    ("订单 DEF-20240525-002 什么情况了", "order_brevity"),
    ("帮我查一下订单到哪里了", "order_brevity"),
    ("我能吃花生吗", "peanut_allergy"),
    ("开发票要写什么抬头", "invoice_title"),
    ("which size of shoes do I wear", "shoe_size"),
    ("what does my cat eat", "pet"),
    ("ABC 20240520 001 那个订单", "return_order"),
    ("ａｂｃ-20240520-001", "return_order"),
    ("我女儿几年级了", "daughter_grade"),
    ("When will my parcel be delivered?", "delivery_day"),
)
SMALL_TALK = ("你好", "谢谢！", "Thanks a lot", "今天天气怎么样", "tell me a joke", "讲个笑话", "😀", "")


async def test_the_memory_that_fits_is_among_the_first_two_and_small_talk_recalls_nothing(
    database: Database, embedder: LocalEmbedder
) -> None:
    await remember(database, embedder, "user_123", [memory(*fact) for fact in FACTS])
    for question, key in QUESTIONS:
        found = await ask(database, embedder, question)
        assert key in [memory.key for memory in found][:2], question
    for text in SMALL_TALK:
        assert await ask(database, embedder, text) == [], text


async def test_a_question_finds_a_memory_of_the_other_language(
    database: Database, embedder: LocalEmbedder
) -> None:
    await remember(database, embedder, "user_123", [memory(*fact) for fact in FACTS])
    assert (await ask(database, embedder, "Am I allergic to peanuts?"))[0].key == "peanut_allergy"
    assert (await ask(database, embedder, "我的猫吃什么猫粮"))[0].key == "pet"


PREFERENCES = (
    ("周六不要送货", "What day will my package be delivered?"),
    ("周六不要送货", "When can you deliver?"),
    ("No deliveries on Saturdays", "什么时候能送货"),
    ("No deliveries on Saturdays", "我的包裹哪天到"),
    ("退款要退到支付宝", "How will I get my refund?"),
    ("Wants refunds to the credit card", "退款退到哪里"),
    ("Prefers size M", "我应该买多大的衣服"),
    ("尺码偏大，要买小一码", "Which size should I order?"),
)


async def test_a_preference_of_the_other_language_reaches_the_lower_floor_of_its_domain(
    database: Database, embedder: LocalEmbedder
) -> None:
    for number, (preference, question) in enumerate(PREFERENCES):
        user = f"user {number}"
        await remember(database, embedder, user, [memory("wish", preference)])
        assert await ask(database, embedder, question, user, floor=IN_DOMAIN_FLOOR), question
        for talk in SMALL_TALK:
            assert await ask(database, embedder, talk, user) == [], talk


async def test_no_user_reaches_another_whatever_their_ids_look_like(
    database: Database, embedder: LocalEmbedder
) -> None:
    for user in ODD_USERS:
        await remember(database, embedder, user, [memory("pet", f"Has a cat; owner {user!r}")])
    for user in ODD_USERS:
        found = await ask(database, embedder, "my cat", user)
        assert [m.content for m in found] == [f"Has a cat; owner {user!r}"]
    assert await ask(database, embedder, "my cat", "u") == []


async def test_every_one_of_many_rows_of_a_user_is_reached_among_many_users(
    database: Database, embedder: LocalEmbedder
) -> None:
    for user in range(20):
        facts = [memory(f"cat_{n}", f"Cat number {n} of the house likes fish") for n in range(12)]
        await remember(database, embedder, f"user {user}", facts)
    found = await ask(database, embedder, "cats of the house", "user 7", k=10, floor=None)
    assert len(found) == 10


async def test_domains_filter_and_general_always_qualifies(
    database: Database, embedder: LocalEmbedder
) -> None:
    facts = [
        memory("a", "Parcels go to the back door", domains=("logistics",)),
        memory("b", "Parcels are refunded by bank transfer", domains=("aftersale",)),
        memory("c", "Parcels are spoken of in English", domains=("general",)),
        memory("d", "Parcels are never left outside", domains=()),
    ]
    await remember(database, embedder, "user_123", facts)
    found = await ask(database, embedder, "my parcels", domains=("logistics",), floor=None)
    assert {m.key for m in found} == {"a", "c", "d"}
    assert len(await ask(database, embedder, "my parcels", floor=None)) == 4


async def test_newer_and_more_important_memories_rank_higher(
    database: Database, embedder: LocalEmbedder
) -> None:
    facts = [
        memory("first_door", "Parcels go to the red door", said_at=MAY - timedelta(days=900)),
        memory("second_door", "Parcels go to the blue door"),
        memory("third_door", "Parcels go to the green door", importance=1.0),
    ]
    await remember(database, embedder, "user_123", facts)
    found = await ask(database, embedder, "which door do parcels go to", floor=None)
    assert [m.key for m in found] == ["third_door", "second_door", "first_door"]


async def test_two_memories_that_say_the_same_are_recalled_once(
    database: Database, embedder: LocalEmbedder
) -> None:
    for key in ("one", "other"):  # as two workers of an older version might have left them
        await remember(database, embedder, "user_123", [memory(key, f"Has a cat {key}")])
    await database.execute("UPDATE user_memory SET content = 'Has a cat.'")
    assert len(await ask(database, embedder, "a cat")) == 1


async def test_superseded_and_ended_memories_are_not_recalled(
    database: Database, embedder: LocalEmbedder
) -> None:
    await remember(database, embedder, "user_123", [memory("day", "Deliver parcels on Monday")])
    later = memory("day", "Deliver parcels on Friday", said_at=MAY + timedelta(hours=1))
    await remember(database, embedder, "user_123", [later])
    found = await ask(database, embedder, "when are parcels delivered")
    assert [m.content for m in found] == ["Deliver parcels on Friday"]
    await database.execute("UPDATE user_memory SET valid_to = %s", (MAY,))
    assert await ask(database, embedder, "when are parcels delivered") == []


async def test_a_memory_told_beside_one_that_fits_ranks_higher(
    database: Database, embedder: LocalEmbedder
) -> None:
    facts = [
        memory("far", "It was blue and heavy", thread_id="t9", position=1),
        memory("trip", "Bought a suitcase for the trip to Lisbon", thread_id="t1", position=4),
        memory("beside", "It was red and heavy", thread_id="t1", position=5),
    ]
    await remember(database, embedder, "user_123", facts)
    found = await ask(database, embedder, "the suitcase for the Lisbon trip", floor=None)
    assert [m.key for m in found] == ["trip", "beside", "far"]


async def test_without_an_embedding_endpoint_keywords_alone_find(
    database: Database, embedder: LocalEmbedder
) -> None:
    class Broken(LocalEmbedder):
        async def embed(self, texts: Sequence[str]) -> Vectors:
            raise EmbeddingFailed("no answer")

    await remember(database, embedder, "user_123", [memory(*fact) for fact in FACTS])
    found = await ask(database, Broken.__new__(Broken), "花生")
    assert [m.key for m in found] == ["peanut_allergy"]


async def test_odd_texts_are_answered(database: Database, embedder: LocalEmbedder) -> None:
    await remember(database, embedder, "user_123", [memory(*fact) for fact in FACTS])
    for text in ("\ud800", "'; DROP TABLE user_memory; --", "a & b | !c:*", "x" * 100_000, "\\'", "مرحبا"):
        await ask(database, embedder, text)
    assert await ask(database, embedder, "花生\x00")


async def test_a_turn_learns_of_the_thread_too_in_the_same_call(
    database: Database, embedder: LocalEmbedder
) -> None:
    await remember(
        database, embedder, "user_123", [memory("allergy", "对花生过敏", thread_id="t1", position=1)]
    )
    await database.execute(
        "INSERT INTO session_memory (thread_id, user_id, summary, key_facts, folded_until)"
        " VALUES ('t1', 'user_123', 'Asked for a refund.', '{\"order\": \"ABC-1\"}', 'm7')"
    )
    await database.execute(
        "INSERT INTO session_fact (thread_id, fact_key, user_id, content, memory_type, said_at)"
        " VALUES ('t1', 'mood', 'user_123', 'Is in a hurry', 'fact', now())"
    )
    request = RecallRequest("user_123", "hello", MAY)
    found = await recall_for_turn(database, embedder, request, "t1")
    assert found.memories == ()
    assert found.summary == "Asked for a refund."
    assert found.folded_until == "m7"
    assert found.key_facts == {"order": "ABC-1", "mood": "Is in a hurry", "allergy": "对花生过敏"}
    stranger = await recall_for_turn(database, embedder, RecallRequest("user_124", "hello", MAY), "t1")
    assert (stranger.summary, stranger.key_facts) == ("", {}), "the thread's user alone reads it"


async def test_a_turn_is_handed_what_must_not_be_overlooked_whether_it_fits_or_not(
    database: Database, embedder: LocalEmbedder
) -> None:
    facts = [memory(*fact) for fact in FACTS]
    told = [
        memory("milk", "Cannot drink milk", importance=0.9),
        memory("calls", "上班时间不要打电话", importance=0.4),
        memory("mango", "对芒果不过敏"),
    ]
    await remember(database, embedder, "user_123", [*facts, *told])
    request = RecallRequest("user_123", "有没有燕麦推荐", MAY + timedelta(days=1))
    found = await recall_for_turn(database, embedder, request, "another thread")
    assert [(m.key, m.constrains) for m in found.constraints] == [
        ("milk", "health"),
        ("peanut_allergy", "health"),
        ("calls", "contact"),
    ]
    assert found.memories == ()
    stranger = RecallRequest("user_456", "有没有燕麦推荐", MAY)
    assert (await recall_for_turn(database, embedder, stranger, "another thread")).constraints == ()
