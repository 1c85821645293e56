"""What customer and books see of a review: progress, the answer alone, each call under its role."""

from __future__ import annotations

import psycopg
import pytest

from tests.support.model_replies import Reply
from tests.support.model_server import ModelServer
from tests.support.reviewed import DRAFT, WRONG, Play, keep, revise


async def test_the_draft_is_never_streamed_and_the_customer_sees_progress_then_the_answer(play: Play) -> None:
    turn = await play(WRONG, reviewer=[revise(DRAFT, "金额 868.00 元不对"), keep])
    assert "".join(turn.streamed) == DRAFT
    assert [event["phase"] for event in turn.progress] == ["checking", "checking_again", "done"]
    assert turn.progress[0]["text"] == "正在核对答复内容"


async def test_each_call_of_a_review_is_booked_under_its_role(play: Play, module_database_url: str) -> None:
    turn = await play(WRONG, reviewer=[Reply("nonsense")] * 2, corrections=[Reply(DRAFT)])
    with psycopg.connect(module_database_url) as connection:
        rows = connection.execute(
            """
            SELECT role, prompt_tokens + completion_tokens, tools > 0 FROM token_usage
            WHERE node = 'reflect' AND thread_id = %s ORDER BY created_at
            """,
            (turn.thread_id,),
        ).fetchall()
    assert [role for role, _, _ in rows] == ["reviewer", "reviewer", "chat"]
    assert all(has_tools for _, _, has_tools in rows)
    spent = sum(tokens for role, tokens, _ in rows if role == "reviewer")
    assert turn.state["usage"]["by_role"]["reviewer"] == spent


@pytest.mark.parametrize(("intent", "settings"), [("order", {}), ("aftersale", {"steward_review": "off"})])
async def test_what_needs_no_review_makes_no_reviewer_call(
    play: Play, server: ModelServer, intent: str, settings: dict[str, str]
) -> None:
    turn = await play(WRONG, intent=intent, **settings)
    assert turn.answer == WRONG
    assert server.requests_of("reviewer") == []
    assert turn.progress == []


async def test_markup_in_a_revision_never_reaches_the_customer(play: Play) -> None:
    call = '<tool_call>{"name": "order_query", "arguments": {"order_id": "GHI-20240512-003"}}</tool_call>'
    turn = await play(reviewer=[revise(f"{DRAFT}请保留包装。{call}", "缺下一步"), keep])
    assert turn.answer == f"{DRAFT}请保留包装。"
