"""The demo model walks the shop's whole flow with the real tools, in Chinese and English."""

from __future__ import annotations

import pytest

from memory.database import Database
from tests.support.shop import Conversation

PREFERENCE = "以后查订单直接告诉我到哪了就行，不用再说支付状态"


async def test_where_is_my_order(database: Database) -> None:
    talk = Conversation(database)
    answer = await talk.say("帮我查一下订单 ABC-20240520-001 到哪里了")
    assert talk.calls == [("order_query", {"order_id": "ABC-20240520-001"})]
    assert "上海转运中心" in answer
    assert "SF1234567890" in answer
    assert "已支付，金额 299.00 元" in answer


async def test_a_preference_is_acknowledged_and_followed_at_once(database: Database) -> None:
    talk = Conversation(database)
    assert "记住" in await talk.say(PREFERENCE)
    assert talk.calls == []
    answer = await talk.say("订单 DEF-20240525-002 什么情况了")
    assert "上海徐汇营业点" in answer
    assert "支付" not in answer


async def test_a_recalled_preference_is_followed_in_a_new_session(database: Database) -> None:
    plain = await Conversation(database).say("订单 DEF-20240525-002 什么情况了")
    brief = await Conversation(database, memories=[PREFERENCE]).say("订单 DEF-20240525-002 什么情况了")
    assert "支付" in plain
    assert "支付" not in brief
    assert "SF1234567891" in brief


async def test_a_return_asks_for_the_contact_then_opens_the_ticket_with_staffs_approval(
    database: Database,
) -> None:
    talk = Conversation(database)
    question = await talk.say("我收到的茶具里有一个杯子碎了，我要退货")
    assert talk.calls == [("order_query", {})]
    assert "GHI-20240512-003" in question
    assert "联系电话" in question
    answer = await talk.say("13800138123")
    assert talk.calls == [
        (
            "aftersale_create",
            {
                "order_id": "GHI-20240512-003",
                "issue_desc": "我收到的茶具里有一个杯子碎了，我要退货",
                "contact": "13800138123",
            },
        )
    ]
    assert [approval.by for approval in talk.approvals] == ["staff"]
    rows = await database.fetch(
        "SELECT ticket_no FROM shop.ticket WHERE contact = '13800138123' AND amount = 688.00"
    )
    assert rows[0]["ticket_no"] in answer


async def test_order_problem_and_contact_are_asked_for_one_after_the_other(database: Database) -> None:
    talk = Conversation(database)
    assert "哪一个订单" in await talk.say("我要退货")
    assert "什么问题" in await talk.say("GHI-20240512-003")
    assert "联系电话" in await talk.say("杯子是碎的")
    assert "工单号 AS-" in await talk.say("邮箱 xiaowen.li@example.com")


async def test_the_same_in_english(database: Database) -> None:
    talk = Conversation(database, locale="en")
    answer = await talk.say("Hi, where is my order ABC-20240520-001?")
    assert "Shanghai transit centre" in answer
    assert "SF1234567890" in answer
    assert "phone number or e-mail" in await talk.say("I want to return the yoga mat, it's torn")
    assert "ticket AS-" in await talk.say("my email is xiaowen.li@example.com")
    assert talk.approvals == []
    assert "human" in await talk.say("what are you? are you a robot?") or "demo model" in await talk.say(
        "who are you?"
    )


async def test_several_wishes_in_one_message_are_all_answered(database: Database) -> None:
    talk = Conversation(database)
    answer = await talk.say(
        "帮我查下ABC20240520001到哪了，另外PQR-20240501-006的瑜伽垫坏了想退货，电话13800138123"
    )
    assert [name for name, _ in talk.calls] == ["order_query", "aftersale_create"]
    assert "上海转运中心" in answer
    assert "工单号 AS-" in answer


@pytest.mark.parametrize(("words", "locale"), [("取消我最新的订单", "zh"), ("cancel my latest order", "en")])
async def test_the_latest_order_is_cancelled_by_way_of_the_list(
    database: Database, words: str, locale: str
) -> None:
    talk = Conversation(database, locale=locale)
    answer = await talk.say(words)
    assert [name for name, _ in talk.calls] == ["order_query", "order_update"]
    assert [approval.by for approval in talk.approvals] == ["customer"]
    assert "JKL-20240526-004" in answer


async def test_what_the_business_refuses_is_told_with_the_reason(database: Database) -> None:
    answer = await Conversation(database).say("取消订单 ABC-20240520-001")
    assert "已发货" in answer


async def test_an_unknown_number_is_told_as_such(database: Database) -> None:
    answer = await Conversation(database).say("帮我查订单 ZZZ-20240101-999")
    assert answer == "没有查到 ZZZ-20240101-999，请核对一下号码。"


async def test_a_new_address_is_asked_for_and_set(database: Database) -> None:
    talk = Conversation(database)
    assert "收货地址" in await talk.say("请把 JKL-20240526-004 改一下地址")
    answer = await talk.say("上海市浦东新区世纪大道100号")
    assert talk.calls[0][1]["address"] == "上海市浦东新区世纪大道100号"
    assert "世纪大道100号" in answer


async def test_it_and_the_other_one_point_back_at_orders_of_the_conversation(database: Database) -> None:
    talk = Conversation(database, locale="en")
    await talk.say("where is order ABC-20240520-001?")
    await talk.say("and DEF-20240525-002?")
    assert talk.calls == [("order_query", {"order_id": "DEF-20240525-002"})]
    await talk.say("and the other one?")
    assert talk.calls == [("order_query", {"order_id": "ABC-20240520-001"})]


async def test_articles_with_what_the_customer_is_allergic_to_are_left_out(database: Database) -> None:
    talk = Conversation(database, memories=["我对花生过敏"])
    answer = await talk.say("有没有燕麦推荐")
    assert "无坚果燕麦饼干" in answer
    assert "坚果燕麦片" not in answer


async def test_stock_is_told_from_the_stock_itself(database: Database) -> None:
    talk = Conversation(database, locale="en")
    answer = await talk.say("do you have noise-cancelling headphones in stock?")
    assert [name for name, _ in talk.calls] == ["product_search", "stock_query"]
    assert "in stock" in answer


@pytest.mark.parametrize("words", ["转人工", "I want to talk to a human"])
async def test_a_wish_for_a_person_hands_over_with_a_summary(database: Database, words: str) -> None:
    talk = Conversation(database)
    await talk.say("帮我查一下订单 ABC-20240520-001 到哪里了")
    await talk.say(words)
    name, args = talk.calls[0]
    assert name == "handoff_to_human"
    assert "ABC-20240520-001" in args["summary"]


async def test_only_tools_that_are_offered_are_called(database: Database) -> None:
    talk = Conversation(database, offered=("product_search",))
    answer = await talk.say("帮我查一下订单 ABC-20240520-001 到哪里了")
    assert talk.calls == []
    assert "人工" in answer


async def test_a_vague_wish_is_served_once_the_customer_has_chosen_what_it_is_about(
    database: Database,
) -> None:
    talk = Conversation(database)
    assert "？" in await talk.say("出了点问题")
    answer = await talk.say("1")
    assert talk.calls == [("order_query", {})]
    assert "JKL-20240526-004" in answer
