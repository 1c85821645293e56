"""What becomes of a draft: kept to the letter, revised, or kept because the revision is worse."""

from __future__ import annotations

from tests.support.model_server import ModelServer
from tests.support.reviewed import DRAFT, QUESTION, WRONG, Play, block, keep, revise


async def test_the_first_verdict_to_keep_sends_the_draft_to_the_letter(
    play: Play, server: ModelServer
) -> None:
    turn = await play(reviewer=[keep])
    assert turn.answer == DRAFT
    assert turn.state["messages"][-1].text == DRAFT
    assert turn.review["verdict"] == "ORIGINAL_ANSWER"
    assert len(server.requests_of("reviewer")) == 1
    assert len(server.requests_of("chat")) == 2


async def test_a_kept_draft_keeps_its_spacing(play: Play) -> None:
    spaced = f"{DRAFT}\n\n- 请保留包装\n\n  谢谢！"
    turn = await play(spaced, reviewer=[keep])
    assert turn.state["messages"][-1].text == spaced


async def test_findings_are_handed_to_the_reviewer_and_its_revision_is_reviewed_again(
    play: Play, server: ModelServer
) -> None:
    turn = await play(WRONG, reviewer=[revise(DRAFT, "金额 868.00 元不对"), keep])
    first, second = server.requests_of("reviewer")
    assert "868.00 元" in block(first, "findings")
    assert block(second, "findings") == "None."
    assert block(second, "draft") == DRAFT
    assert turn.answer == DRAFT
    assert turn.review["rounds"] == 2


async def test_the_reviewer_sees_checklist_results_and_the_customers_words(
    play: Play, server: ModelServer
) -> None:
    await play(reviewer=[keep])
    (request,) = server.requests_of("reviewer")
    assert "Amounts have two decimals" in request["messages"][0]["content"]
    assert '"total":"688.00"' in block(request, "results")
    assert QUESTION in block(request, "customer")
    assert request["temperature"] <= 0.2


async def test_a_revision_that_drops_a_right_fact_is_not_taken_and_the_reviewer_is_told(
    play: Play, server: ModelServer
) -> None:
    dropping = "订单 GHI-20240512-003 已于5月16日签收，15天内可以退换。"
    turn = await play(reviewer=[revise(dropping, "太长"), keep])
    assert turn.answer == DRAFT
    assert "688.00" in block(server.requests_of("reviewer")[1], "objection")


async def test_a_revision_that_brings_in_a_fact_from_nowhere_is_not_taken(play: Play) -> None:
    inventing = DRAFT + "退款将于6月30日到账，单号 AS-20240520-9999。"
    turn = await play(reviewer=[revise(inventing, "缺少下一步")] * 2)
    assert turn.answer == DRAFT
    assert turn.review["verdict"] == "refused"
    assert "AS-20240520-9999" in turn.review["objection"]


async def test_a_revision_in_another_language_is_not_taken(play: Play) -> None:
    english = "Order GHI-20240512-003 was delivered on May 16, amount CNY 688.00; returns within 15 days."
    turn = await play(reviewer=[revise(english, "tone")], steward_review_rounds=1)
    assert turn.answer == DRAFT


async def test_rounds_are_bounded_by_the_setting(play: Play, server: ModelServer) -> None:
    drafts = [f"{DRAFT}（第{mark}版）" for mark in "甲乙丙丁"]
    turn = await play(reviewer=[revise(text, "语气") for text in drafts], steward_review_rounds=3)
    assert len(server.requests_of("reviewer")) == 3
    assert turn.answer == drafts[2]
