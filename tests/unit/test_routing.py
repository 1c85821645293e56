"""How intents become a route."""

from __future__ import annotations

from nodes.business import Business, Intent
from nodes.routing import lead_by_priority, offered_tools
from nodes.state import RoutedIntent

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
