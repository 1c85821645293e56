"""Where a message carries several wishes, and what a classifier of single ones may decide."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.wishes import SURE, clauses, decide_alone, several_wishes

ORDER, MONEY, SMALL_TALK = ("order", 0.95), ("aftersale", 0.9), ("chat", 0.99)
UNSURE = ("consult", SURE - 0.1)
INTENTS = ["order", "aftersale", "consult", "chat"]


@pytest.mark.parametrize(
    "text",
    [
        "查一下订单，另外我要退杯子", "where is it? also can I return the mug", "杯子碎了要换 还有另一个快递怎么还没来",
        "退款到账没有？换货的寄出来了吗？", "track my order; cancel the other",
    ],
)  # fmt: skip
def test_joined_wishes_are_noticed(text: str) -> None:
    assert several_wishes(text)


@pytest.mark.parametrize(
    "text", ["还有红色的吗", "这个还有货吗", "另外", "我要退货，杯子碎了", "where is my parcel?"]
)
def test_a_single_wish_is_not_taken_for_several(text: str) -> None:
    assert not several_wishes(text)


def test_a_message_falls_into_its_clauses() -> None:
    assert clauses("取消前天的订单，顺便看看昨天那单物流到哪") == ["取消前天的订单", "看看昨天那单物流到哪"]
    assert clauses("cancel my order and also where is my refund") == ["cancel my order", "where is my refund"]
    assert clauses("退款") == ["退款"]


@given(st.text(max_size=80))
def test_there_is_always_a_clause_and_it_stems_from_the_message(text: str) -> None:
    parts = clauses(text)
    assert parts
    assert all(part in text for part in parts)


@pytest.mark.parametrize(
    ("whole", "parts", "joined", "expected"),
    [
        (ORDER, [ORDER], False, ["order"]),
        (UNSURE, [UNSURE], False, []),
        (ORDER, [ORDER, MONEY], False, []),
        (ORDER, [SMALL_TALK, ORDER], False, ["order"]),
        (UNSURE, [ORDER, MONEY], True, ["order", "aftersale"]),
        (ORDER, [ORDER, UNSURE], True, []),
        (ORDER, [ORDER, ORDER], True, ["order"]),
        (ORDER, [SMALL_TALK, ORDER], True, ["order"]),
        (SMALL_TALK, [SMALL_TALK, SMALL_TALK], True, ["chat"]),
    ],
)
def test_only_what_every_clause_agrees_to_is_decided_alone(
    whole: tuple[str, float], parts: list[tuple[str, float]], joined: bool, expected: list[str]
) -> None:
    decided = decide_alone([whole], [[part] for part in parts], joined=joined, fallback="chat")
    assert [name for name, _ in decided] == expected


@given(
    st.lists(st.tuples(st.sampled_from(INTENTS), st.floats(0, 1)), min_size=1, max_size=5),
    st.booleans(),
)
def test_nothing_is_decided_alone_below_the_threshold(parts: list[tuple[str, float]], joined: bool) -> None:
    decided = decide_alone(parts[:1], [[part] for part in parts], joined=joined, fallback="chat")
    assert all(probability >= SURE for _, probability in decided)
    assert len({name for name, _ in decided}) == len(decided)
