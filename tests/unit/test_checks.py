"""A fact that stems from nowhere is found; what follows from the sources is let through."""

from __future__ import annotations

import json
import time
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.shop.review_words import STATES
from nodes.checks import Sources, Wish, find_faults

ORDER: dict[str, Any] = {
    "order_id": "ABC-20240520-001",
    "status": "shipped",
    "total": "398.00",
    "placed_at": "2024-05-20T09:12+08:00",
    "items": [
        {"name": "茶壶", "quantity": 1, "unit_price": "268.00"},
        {"name": "茶杯", "quantity": 2, "unit_price": "65.00"},
    ],
    "parcels": [{"tracking_no": "SF1234567890", "status": "in_transit", "expected_on": "2024-05-24"}],
}
OTHER: dict[str, Any] = {
    "order_id": "DEF-20240510-002",
    "status": "delivered",
    "total": "129.00",
    "delivered_at": "2024-05-14T17:05+08:00",
}
POLICY = "签收后7天内可无理由退货，满99元包邮。退款 1-3 个工作日到账，手续费 10%。"


def ok(data: Any) -> str:
    return json.dumps({"status": "ok", "data": data}, ensure_ascii=False)


def sources(*results: str, **changes: Any) -> Sources:
    values: dict[str, Any] = {
        "now": datetime.fromisoformat("2024-05-22T15:00:00+08:00"),
        "timezone": "Asia/Shanghai",
        "results": results or (ok(ORDER),),
        "documents": (POLICY,),
        "states": STATES,
    }
    return Sources(**{**values, **changes})


def faults(draft: str, *results: str, **changes: Any) -> list[tuple[str, str]]:
    return [(fault.kind, fault.quote) for fault in find_faults(draft, sources(*results, **changes))]


@pytest.mark.parametrize(
    "draft",
    [
        "订单 ABC-20240520-001 已发货，预计5月24日送达。",
        "Your order abc 20240520 001 has been shipped and is in transit; it should arrive on May 24th.",
        "尾号001的订单共398.00元，其中茶杯 130.00 元，茶壶 268.00 元。",
        "茶壶比一只茶杯贵 203.00 元。",
        "手续费为 39.80 元。",
        "后天（周五）送到，还有2天。",
        "退款1至3个工作日到账，最晚3个工作日。",
        "如果您5月24日签收，5月31日前都可以退。",
        "满99元包邮。",
        "退款会在3个工作日内，即5月27日前到账。",
    ],
)
def test_what_follows_from_the_sources_is_let_through(draft: str) -> None:
    assert faults(draft) == []


@pytest.mark.parametrize(
    ("draft", "kind", "quote"),
    [
        ("订单 ABC-20240520-002 已发货。", "identifier", "ABC-20240520-002"),
        ("运单号 SF123456789。", "identifier", "SF123456789"),
        ("尾号002的订单。", "identifier", "002"),
        ("工单号：88。", "identifier", "88"),
        ("共 399.00 元。", "amount", "399.00 元"),
        ("预计5月25日送达。", "date", "5月25日"),
        ("预计5月24日（周四）送达。", "date", "5月24日(周四)"),
        ("明天送达。", "date", "明天"),
        ("退款5个工作日到账。", "date", "5个工作日"),
        ("退款3天到账。", "date", "3天"),
        ("签收后10天内可退。", "date", "10天"),
        ("上午9点13分下单。", "date", "上午9点13分"),
        ("包裹已签收。", "state", "已签收"),
        ("The parcel was delivered.", "state", "was delivered"),
        ("订单尚未发货。", "state", "尚未发货"),
        ("It has not been shipped yet.", "state", "not been shipped"),
        ("共398元。", "decimals", "398元"),
        ("Total: ¥398.0", "decimals", "¥398.0"),
    ],
)
def test_a_fact_from_nowhere_is_found(draft: str, kind: str, quote: str) -> None:
    assert faults(draft) == [(kind, quote)]


@pytest.mark.parametrize(
    "draft",
    [
        "等包裹签收后，7天内可以退货。",
        "如果订单已签收，请检查外包装。",
        "您说已签收，但系统显示运输中。",
        "已签收的商品才可以退。",
        "包裹已签收了吗？",
        "Once it has been delivered, you can return it.",
        "It will be delivered soon and cannot be cancelled.",
        "Was it delivered?",
    ],
)
def test_a_state_that_is_not_asserted_is_no_claim(draft: str) -> None:
    assert faults(draft) == []


@pytest.mark.parametrize(
    ("draft", "expected"),
    [
        ("DEF-20240510-002 共 398.00 元。", ("amount", "398.00 元")),
        ("ABC-20240520-001 已签收。", ("state", "已签收")),
        ("ABC-20240520-001 在5月14日下单。", ("date", "5月14日")),
        ("ABC-20240520-001 已发货，DEF-20240510-002 运输中。", ("state", "运输中")),
    ],
)
def test_a_fact_of_one_order_is_no_fact_of_another(draft: str, expected: tuple[str, str]) -> None:
    assert faults(draft, ok([ORDER, OTHER])) == [expected]


@pytest.mark.parametrize(
    ("draft", "kinds"),
    [
        ("ZT02 0000013 已签收。", ["state"]),
        ("ZT02 0000012 已签收。", []),
        ("两个包裹 ZT020000012 和 ZT020000013 都已发货。", []),
    ],
)
def test_the_state_of_one_parcel_is_not_that_of_another(draft: str, kinds: list[str]) -> None:
    parcels = [
        {"tracking_no": "ZT020000012", "status": "delivered"},
        {"tracking_no": "ZT020000013", "status": "collected"},
    ]
    assert [kind for kind, _ in faults(draft, ok({**ORDER, "parcels": parcels}))] == kinds


def test_a_range_may_take_its_unit_from_the_span_before_it() -> None:
    policy = "Alipay in 1 to 3 working days, bank cards in 3 to 7."
    assert faults("Bank cards take 3 to 7 working days.", documents=[policy]) == []
    assert faults("Alipay takes 1 to 3 working days, cards 2 to 9.", documents=[policy]) == [
        ("date", "2 to 9")
    ]


def test_two_orders_can_be_spoken_of_together() -> None:
    draft = "ABC-20240520-001（398.00元）运输中，DEF-20240510-002（129.00元）已签收，合计527.00元。"
    assert faults(draft, ok([ORDER, OTHER])) == []


def test_an_order_and_its_parcel_are_one_thing_across_results() -> None:
    track = ok({"tracking_no": "SF1234567890", "events": [{"at": "2024-05-22T08:15+08:00"}]})
    assert faults("订单 ABC-20240520-001 今天08:15到达。", ok({**ORDER}), track) == []


def test_times_are_read_in_the_customers_time_zone() -> None:
    result = ok({"parcel": {"tracking_no": "SF1234567890", "delivered_at": "2024-05-21T23:30:00+00:00"}})
    assert faults("SF1234567890 于5月22日7:30签收。", result) == []


def test_the_customers_own_words_and_memories_are_sources() -> None:
    draft = "您周日下单的 XY-778899 付了 45.50 元，放到 9 号柜。"
    assert faults(draft, user_texts=["我周日下的单 xy 778899，付了45.5"], memories=["放到9号柜"]) == []


def test_the_customers_word_for_a_state_does_not_outweigh_the_result() -> None:
    assert faults("包裹已签收。", user_texts=["我的包裹已签收"]) == [("state", "已签收")]


def test_a_ticket_that_was_never_opened_is_found() -> None:
    failed = json.dumps({"status": "error", "error_kind": "timeout", "error_desc": "no answer"})
    found = faults("已为您提交退款申请，单号 AS-20240522-1001。", ok(ORDER), failed)
    assert found == [("state", "已为您提交退款申请"), ("identifier", "AS-20240522-1001")]


def test_an_error_text_that_rules_a_state_out_does_not_confirm_it() -> None:
    refused = json.dumps({"status": "error", "error_desc": "Shipped orders cannot be cancelled."})
    assert faults("The order has been cancelled.", ok(ORDER), refused) == [("state", "has been cancelled")]


@pytest.mark.parametrize(
    ("draft", "missing"), [("已登记。", True), ("单号 as 20240522 1001", False), ("AS-20240522-1001", False)]
)
def test_a_required_value_has_to_be_stated(draft: str, missing: bool) -> None:
    result = ok({"ticket_no": "AS-20240522-1001"})
    found = faults(draft, result, required={"ticket_no": "AS-20240522-1001"})
    assert (("required", "ticket_no") in found) is missing


def test_a_wish_is_answered_by_anything_that_was_fetched_for_it() -> None:
    stock = ok({"items": [{"sku": "SCF-0301", "name": "羊绒围巾", "stock": 0, "restock_on": "2024-06-20"}]})
    wishes = {"aftersale": Wish(own=[ok(OTHER)]), "consult": Wish(words=("库存",), own=[stock])}
    both = ok([OTHER]), stock
    assert faults("DEF-20240510-002 已签收。", *both, wishes=wishes) == [("wish", "consult")]
    assert faults("DEF-20240510-002 已签收。围巾目前没有。", *both, wishes=wishes) == []


def test_a_single_wish_is_never_said_to_be_unanswered() -> None:
    assert faults("您好！", wishes={"aftersale": Wish(words=("退",))}) == []


def test_hard_faults_are_facts_and_missing_values_only() -> None:
    found = find_faults("共398元，5月25日到。", sources(required={"ticket_no": "T1"}))
    assert {fault.kind: fault.hard for fault in found} == {"decimals": False, "date": True, "required": True}


def test_a_fault_is_told_in_a_sentence() -> None:
    (fault,) = find_faults("共 399.00 元。", sources())
    assert fault.text == 'The amount "399.00 元" is in no source, and follows from none.'


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_every_other_number_of_an_order_is_found(a: int, b: int, c: int) -> None:
    number = f"ABC-20240520-{a}{b}{c}"
    expected = [] if number == ORDER["order_id"] else [("identifier", number)]
    assert faults(f"订单 {number} 如下。") == expected


@given(st.text(max_size=300))
def test_no_text_breaks_the_checks(text: str) -> None:
    find_faults(text, sources(ok({"note": text}), user_texts=(text,), documents=(text,)))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
        max_leaves=12,
    )
)
def test_no_result_breaks_the_checks(data: Any) -> None:
    find_faults("订单 ABC-20240520-001 已发货。", sources(ok(data), json.dumps(data), "no json"))


@pytest.mark.parametrize("piece", ["a-", "1-", "¥1,", "2024-05-2", "a@", "12 34 ", "三", "已为您"])
def test_a_long_text_without_a_stop_is_read_in_time_that_grows_with_its_length(piece: str) -> None:
    began = time.process_time()
    find_faults("您好。", sources(user_texts=[(piece * 50_000)[:50_000]]))
    assert time.process_time() - began < 5


@pytest.mark.parametrize("digits", [30, 5000])
def test_a_number_of_any_length_is_no_reason_to_fail(digits: int) -> None:
    number = "9" * digits
    draft = f"共 {number}.00 元，{number}天，{'九' * digits}天，{number}%，单号 {number}，5月{number}日。"
    find_faults(
        draft, sources(ok({"total": int(number[:30]), "rate": "10%", "note": number}), user_texts=[number])
    )
