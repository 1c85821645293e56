"""What the demo model reads out of a customer's words."""

from __future__ import annotations

import pytest

from graph.shop.offline import lexicon
from graph.shop.offline.memories import memories
from graph.shop.offline.order_steps import new_address
from graph.shop.offline.script import ShopScript
from graph.shop.offline.wishes import only_details, wishes


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        ("帮我查一下订单 ABC-20240520-001 到哪里了", ["parcel"]),
        ("订单 DEF-20240525-002 什么情况了", ["order"]),
        ("DEF-20240525-002", ["order"]),
        ("SF1234567890", ["parcel"]),
        ("AS-20240508-0900", ["ticket"]),
        ("以后查订单直接告诉我到哪了就行，不用再说支付状态", ["preference"]),
        ("我收到的杯子碎了，想退货", ["aftersale"]),
        ("退货运费谁出", ["aftersale_rules"]),
        ("我的退款到账了吗", ["ticket"]),
        ("do you have noise-cancelling headphones in stock?", ["product"]),
        ("please cancel my order", ["cancel"]),
        ("Are you human?", ["identity"]),
        ("let me talk to a human", ["human"]),
        ("I always order here, where is my parcel?", ["parcel"]),
        ("查下快递，另外开张发票", ["parcel", "invoice"]),
        ("where is my parcel and also how do I reset my password", ["parcel", "account"]),
        ("ABC-20240520-001到哪了，另外PQR-20240501-006的垫子坏了要退", ["parcel", "aftersale"]),
        ("你好，我想查快递，谢谢", ["parcel"]),
        ("谢谢", ["thanks"]),
        ("帮我写首诗", ["other"]),
        ("", ["other"]),
    ],
)
def test_wishes_are_found_in_their_order(words: str, kinds: list[str]) -> None:
    assert [wish.kind for wish in wishes(words)] == kinds


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ("13800138123", True),
        ("我的手机 138 0013 8123", True),
        ("my email is a.b@example.com", True),
        ("订单号 GHI-20240512-003", True),
        ("取消订单 GHI-20240512-003", False),
        ("不用了", False),
    ],
)
def test_a_bare_detail_is_told_from_a_wish(words: str, given: bool) -> None:
    assert only_details(words) is given


@pytest.mark.parametrize(
    ("words", "contact"),
    [
        ("电话13800138123", "13800138123"),
        ("电话：138-0013-8123，谢谢", "138-0013-8123"),
        ("ring me at 021-62881234", "021-62881234"),
        ("１３８００１３８１２３", "13800138123"),
        ("邮箱xiaowen.li@example.com，谢谢", "xiaowen.li@example.com"),
        ("订单 ABC-20240520-001，运单 SF1234567890，工单 AS-20240508-0900", None),
        ("2024 年 5 月", None),
    ],
)
def test_contacts_are_told_from_other_numbers(words: str, contact: str | None) -> None:
    assert lexicon.contact(words) == contact


@pytest.mark.parametrize(
    ("words", "address"),
    [
        ("改成上海市浦东新区世纪大道100号", "上海市浦东新区世纪大道100号"),
        ("把地址改到杭州市西湖区文三路5号吧", "杭州市西湖区文三路5号"),
        ("change the address to 100 Century Avenue, Shanghai", "100 Century Avenue, Shanghai"),
        ("改一下地址", None),
        ("把 JKL-20240526-004 改地址", None),
    ],
)
def test_an_address_is_taken_as_the_customer_wrote_it(words: str, address: str | None) -> None:
    assert new_address(words) == address


@pytest.mark.parametrize(
    ("words", "key", "kind", "domain"),
    [
        ("以后查订单直接告诉我到哪了就行，不用再说支付状态", "order_answer_style", "preference", "order"),
        ("我对花生过敏。", "allergy_花生", "fact", "product"),
        ("I'm allergic to peanuts", "allergy_peanuts", "fact", "product"),
        ("周六不要送货，请改周日配送", "delivery_day", "preference", "logistics"),
        ("From now on please deliver on Saturdays", "delivery_day", "preference", "logistics"),
        ("我平时穿L码", "clothing_size", "fact", "product"),
        ("那就按换货处理", "decision", "decision", "general"),
    ],
)
def test_lasting_facts_and_preferences_are_kept_with_their_evidence(
    words: str, key: str, kind: str, domain: str
) -> None:
    (item,) = memories(words)
    assert (item["key"], item["type"], item["domains"][0]) == (key, kind, domain)
    assert item["evidence"] in words
    assert item["confidence"] >= 0.8


@pytest.mark.parametrize(
    "words",
    ["你好", "谢谢", "帮我查订单 ABC-20240520-001", "以后还能退吗？", "Do you always deliver on Saturdays?"],
)
def test_greetings_requests_and_questions_are_not_remembered(words: str) -> None:
    assert memories(words) == []


def test_two_allergies_are_two_memories() -> None:
    assert [item["key"] for item in memories("我对花生过敏。我对牛奶过敏。")] == [
        "allergy_花生",
        "allergy_牛奶",
    ]


@pytest.mark.parametrize(
    ("words", "previous", "intents"),
    [
        ("我的快递到哪了", "", ["logistics"]),
        ("杯子碎了要退货，另外取消另一单", "", ["aftersale", "order"]),
        ("13800138123", "杯子碎了要退货", ["aftersale"]),
        ("那另外那个呢", "ABC-20240520-001 的快递到哪了", ["logistics"]),
        ("以后查订单不用说支付状态", "", ["order"]),
        ("讲个笑话", "", ["chat"]),
        ("转人工", "我的快递到哪了", ["chat"]),
    ],
)
def test_the_router_role_names_the_intents(words: str, previous: str, intents: list[str]) -> None:
    assert [name for name, _ in ShopScript().route(words, previous)] == intents


@pytest.mark.parametrize("words", ["出了点问题", "help", "something is wrong"])
def test_the_router_role_is_unsure_where_a_person_would_be(words: str) -> None:
    ranked = ShopScript().route(words, "")
    assert len(ranked) > 1
    assert max(confidence for _, confidence in ranked) < 0.6
