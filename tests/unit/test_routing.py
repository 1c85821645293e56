"""How scores become a route, and how an answer to a question is understood."""

from __future__ import annotations

import pytest

from nodes.business import Business, Intent
from nodes.routing import chosen_intent, is_follow_up, lead_by_priority, offered_tools, several_wishes
from nodes.state import Clarification, RoutedIntent

BUSINESS = Business(
    name="test",
    instructions="",
    tools=lambda settings: (),
    intents=[
        Intent(
            "order",
            "",
            priority=2,
            tools=("order_query", "order_update"),
            label={"zh": "订单查询", "en": "your order"},
        ),
        Intent(
            "logistics",
            "",
            priority=1,
            tools=("logistics_query",),
            label={"zh": "物流配送", "en": "delivery"},
        ),
        Intent(
            "aftersale",
            "",
            priority=3,
            tools=("aftersale_create", "order_query"),
            label={"zh": "退换货", "en": "a return or refund"},
        ),
        Intent("chat", "", priority=0, label={"zh": "其他问题", "en": "something else"}),
    ],
)
ASKED: Clarification = {
    "question": "?",
    "intents": ["order", "aftersale", "logistics"],
    "request": "那个杯子",
}


def intent(name: str, confidence: float) -> RoutedIntent:
    return {"name": name, "confidence": confidence, "source": "model"}


def test_the_businesss_priority_picks_the_leader_and_keeps_the_others() -> None:
    ranked = lead_by_priority(
        [intent("order", 0.9), intent("logistics", 0.95), intent("aftersale", 0.7)], BUSINESS
    )
    assert [i["name"] for i in ranked] == ["aftersale", "logistics", "order"]


def test_each_intent_on_the_list_gets_its_first_tool_before_any_gets_its_second() -> None:
    available = ["order_query", "order_update", "logistics_query", "aftersale_create"]
    offered = offered_tools(["aftersale", "logistics", "order"], BUSINESS, available, 3)
    assert offered == ["aftersale_create", "logistics_query", "order_query"]


def test_what_an_intent_offers_beside_its_list_comes_after_it_and_within_the_limit() -> None:
    available = ["order_query", "order_update", "crm__find", "crm__note"]
    beside = {"order": ["crm__find", "crm__note"]}
    offered = offered_tools(["order"], BUSINESS, available, 3, lambda intent: beside.get(intent, ()))
    assert offered == ["order_query", "order_update", "crm__find"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("1", "order"), ("2", "aftersale"), ("第三个", "logistics"), ("选2", "aftersale"), ("option 3", "logistics"),
        ("退换货", "aftersale"), ("your order", "order"), ("delivery please", "logistics"), ("订单", "order"),
        ("9", None), ("我想问一下你们周末上班吗", None), ("how tall is the Eiffel tower and who built it?", None),
    ],
)  # fmt: skip
def test_an_answer_is_understood_by_number_by_label_or_not_at_all(answer: str, expected: str | None) -> None:
    assert chosen_intent(answer, ASKED, BUSINESS) == expected


@pytest.mark.parametrize("text", ["and the other one?", "那另一个呢？", "好的", "what about the blue one"])
def test_a_back_reference_is_a_follow_up(text: str) -> None:
    assert is_follow_up(text)


@pytest.mark.parametrize(
    "text",
    [
        "我的电话是 13800138123",
        "13800138123",
        "联系邮箱：xiaowen.li@example.com",
        "my phone number is +86 138 0013 8123",
        "订单号 ABC-20240520-001",
        "You can reach me at li@example.com.",
    ],
)
def test_details_that_were_asked_for_lean_on_the_question(text: str) -> None:
    assert is_follow_up(text)


@pytest.mark.parametrize(
    "text", ["帮我查一下订单 ABC-20240520-001 到哪里了", "Cancel order ABC-20240520-001"]
)
def test_a_number_with_a_wish_is_a_request_of_its_own(text: str) -> None:
    assert not is_follow_up(text)


@pytest.mark.parametrize("text", ["我要退货", "Where is my parcel?", "发票怎么开"])
def test_a_request_of_its_own_is_not(text: str) -> None:
    assert not is_follow_up(text)


@pytest.mark.parametrize("text", ["查一下订单，另外我要退杯子", "where is it? also can I return the mug"])
def test_several_wishes_are_noticed(text: str) -> None:
    assert several_wishes(text)
