"""Which messages lean on the one before."""

from __future__ import annotations

import pytest

from nodes.follow_up import answers_a_question, consents, is_follow_up, leans_back, only_details

ASKS = "好的，请提供一下联系电话。"


@pytest.mark.parametrize(
    "text",
    [
        "and the other one?", "what about the blue one", "And the second one?", "why?", "how long?", "the first one",
        "那另一个呢？", "另外一个呢", "那这个呢", "还有一个呢", "红色的呢", "为什么", "好的", "yes", "go ahead",
        "另一单怎么样了",
        "那 DEF-20240525-002 呢？", "and DEF-20240525-002?", "剩下的呢", "它呢", "嗯嗯",
    ],
)  # fmt: skip
def test_a_message_that_only_points_back_is_a_follow_up(text: str) -> None:
    assert is_follow_up(text)


@pytest.mark.parametrize(
    "text",
    [
        "我要退货", "Where is my parcel?", "发票怎么开", "那帮我开个发票", "那发票呢", "and how do I return it?",
        "对了，密码忘了",
        "那快递呢", "and cancel the order", "帮我查一下订单 ABC-20240520-001 到哪里了", "Cancel order ABC-20240520-001",
        "谢谢", "转人工", "that is a very long message which stands for itself, whatever it begins with", "",
    ],
)  # fmt: skip
def test_a_message_with_a_wish_of_its_own_is_not(text: str) -> None:
    assert not is_follow_up(text)


@pytest.mark.parametrize(
    "text",
    [
        "我的电话是 13800138123", "13800138123", "联系邮箱：xiaowen.li@example.com", "订单号 ABC-20240520-001",
        "my phone number is +86 138 0013 8123", "You can reach me at li@example.com.",
    ],
)  # fmt: skip
def test_details_alone_are_recognised(text: str) -> None:
    assert only_details(text)


@pytest.mark.parametrize(
    "text", ["查订单 ABC-20240520-001", "cancel ABC-20240520-001", "13800138123 打不通", "hello"]
)
def test_details_with_a_wish_are_not_alone(text: str) -> None:
    assert not only_details(text)


@pytest.mark.parametrize("text", ["李小文", "红色", "浦东新区张江路 8 号", "next Tuesday", "Li Xiaowen"])
def test_a_short_value_after_a_question_is_its_answer(text: str) -> None:
    assert answers_a_question(text, ASKS)
    assert not answers_a_question(text, "您的订单已经取消。")


@pytest.mark.parametrize(
    "text", ["你们几点下班？", "我要退货", "对了 密码忘了怎么办", "can I pay by card", "cancel my order"]
)
def test_a_new_wish_after_a_question_is_not_its_answer(text: str) -> None:
    assert not answers_a_question(text, ASKS)


def test_yes_and_thanks_are_consent_only_where_the_agent_has_asked() -> None:
    assert consents("好的，谢谢", "需要我帮您取消吗？")
    assert not consents("好的，谢谢", "订单已取消。")
    assert not consents("好的，帮我开发票", "需要我帮您取消吗？")


def test_a_beginning_that_points_back_may_be_a_follow_up_but_a_by_the_way_is_not() -> None:
    assert leans_back("那发票呢")
    assert leans_back("and for the blue mug?")
    assert not leans_back("对了，那发票呢")
    assert not leans_back("发票呢")
