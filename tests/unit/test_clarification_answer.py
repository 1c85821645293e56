"""How an answer to a question of the agent is understood."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.shop.business import SHOP
from nodes.clarification_answer import chosen_intents
from nodes.state import Clarification

ASKED: Clarification = {
    "question": "?",
    "intents": ["order", "aftersale", "logistics"],
    "request": "那个杯子",
}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("1", ["order"]), ("2。", ["aftersale"]), ("第三个", ["logistics"]), ("选2", ["aftersale"]),
        ("option 3", ["logistics"]), ("the second one", ["aftersale"]), ("(1)", ["order"]), ("我是第一个", ["order"]),
        ("1和3", ["order", "logistics"]), ("1, 2", ["order", "aftersale"]), ("最后一个", ["logistics"]),
        ("都要", ["order", "aftersale", "logistics"]), ("both", ["order", "aftersale", "logistics"]),
        ("退款", ["aftersale"]), ("我是想退款", ["aftersale"]), ("a refund", ["aftersale"]),
        ("delivery please", ["logistics"]),
        ("my order", ["order"]), ("快递的事", ["logistics"]), ("都不是", ["chat"]), ("none of these", ["chat"]),
    ],
)  # fmt: skip
def test_a_number_or_a_word_picks_what_was_offered(answer: str, expected: list[str]) -> None:
    assert chosen_intents(answer, ASKED, SHOP) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "9", "4", "1和9", "我想问一下你们周末上班吗", "how tall is the Eiffel tower and who built it?",
        "不是退款，查订单",
        "杯子有一道裂缝", "会员积分怎么用", "",
    ],
)  # fmt: skip
def test_anything_else_is_a_message_of_its_own(answer: str) -> None:
    assert chosen_intents(answer, ASKED, SHOP) == []


@given(st.text(max_size=60))
def test_whatever_is_answered_only_offered_intents_or_the_fallback_are_chosen(answer: str) -> None:
    chosen = chosen_intents(answer, ASKED, SHOP)
    assert set(chosen) <= {*ASKED["intents"], SHOP.fallback}
    assert len(chosen) == len(set(chosen))
