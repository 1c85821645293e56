"""The review of risky answers in the whole graph: real Postgres, a scripted endpoint over real HTTP."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from graph import AgentContext, Settings, open_agent
from graph.open import Agent
from tests.support.model_replies import Reply, Request, failure, reviewer_reply, router_reply, tool_call
from tests.support.model_server import ModelServer, RoleQueues, Script, role_of

QUESTION = "我的 GHI-20240512-003 茶具碎了，能退吗？"
DRAFT = "订单 GHI-20240512-003 已于5月16日签收，金额 688.00 元，15天内可以退换。"
WRONG = DRAFT.replace("688.00", "868.00")
POLICY = "签收后15天内可以退换"
Play = Callable[..., Awaitable["Reviewed"]]


class AlsoForReviewers(RoleQueues):
    """The chat model is asked in the reviewer's place when that one is down; here it is of no more use."""

    def __call__(self, request: Request) -> Reply:
        if role_of(request) == "chat" and "reviewer_answer" in str(request.get("tool_choice")):
            return failure(400, "bad request")
        return super().__call__(request)


@pytest.fixture
def script() -> RoleQueues:
    return AlsoForReviewers()


@dataclass
class Reviewed:
    """One turn with a reviewed answer, as it looked from outside."""

    thread_id: str
    state: dict[str, Any] = field(default_factory=dict)
    streamed: list[str] = field(default_factory=list)
    """Text of the assistant messages in the message stream."""
    progress: list[dict[str, Any]] = field(default_factory=list)

    @property
    def answer(self) -> str:
        return str(self.state["answer"])

    @property
    def review(self) -> dict[str, Any]:
        review: dict[str, Any] = self.state["review"]
        return review


@pytest.fixture
async def play(module_database_url: str, server: ModelServer, script: RoleQueues, tmp_path: Path) -> Play:
    """Plays one after-sales turn on a script of drafts and reviewer answers, and looks at it from outside."""

    async def turn(
        draft: str = DRAFT,
        *,
        reviewer: Sequence[Reply | Script] = (),
        corrections: Sequence[Reply] = (),
        intent: str = "aftersale",
        **settings: Any,
    ) -> Reviewed:
        look_up = tool_call("order_query", {"order_id": "GHI-20240512-003"})
        script.add("chat", look_up, Reply(draft), *corrections)
        script.add("router", lambda request: router_reply(request, (intent, 0.95)))
        script.add("reviewer", *reviewer)
        values = {
            "database_url": module_database_url,
            "steward_home": tmp_path,
            "steward_local_router": "off",
            "steward_worker": "external",
            **server.settings(),
            **settings,
        }
        async with open_agent(Settings(_env_file=None, **values)) as agent:
            return await watch(agent)

    return turn


async def watch(agent: Agent) -> Reviewed:
    seen = Reviewed(uuid4().hex)
    config = {"configurable": {"thread_id": seen.thread_id}}
    context = AgentContext(user_id="user_123", now=datetime(2024, 5, 20, 2, tzinfo=UTC))
    events = agent.graph.astream(
        {"messages": [("user", f"{QUESTION} 政策：{POLICY}")]},
        config,
        context=context,
        stream_mode=["messages", "custom", "values"],
    )
    async for mode, event in events:
        if mode == "messages" and event[0].type in ("ai", "AIMessageChunk"):
            seen.streamed.append(event[0].text)
        elif mode == "custom" and event["type"] == "review":
            seen.progress.append(event)
        elif mode == "values":
            seen.state = event
    return seen


def keep(request: Request) -> Reply:
    return reviewer_reply(request)


def revise(text: str, *problems: str) -> Callable[[Request], Reply]:
    return lambda request: reviewer_reply(request, revised=text, problems=problems)


def prompt_of(request: Request) -> str:
    return str(request["messages"][-1]["content"])


def block(request: Request, name: str) -> str:
    return prompt_of(request).partition(f"<{name}>")[2].partition(f"</{name}>")[0].strip()


def answers_asked_for(server: ModelServer) -> int:
    """Requests to the chat model in its own role."""
    return sum("reviewer_answer" not in str(r.get("tool_choice")) for r in server.requests_of("chat"))


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


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(failure(400, "bad request"), id="refuses"),
        pytest.param(Reply("ORIGINAL_ANSWER"), id="says it outside the form"),
        pytest.param(
            Reply('{"verdict": "REVISED", "problems": [], "answer": null}'), id="revises to nothing"
        ),
        pytest.param(
            Reply('{"verdict": "REVISED", "problems": [], "answer": "ORIGINAL_ANSWER"}'), id="mixes both up"
        ),
    ],
)
async def test_a_reviewer_that_fails_or_answers_nonsense_never_costs_the_draft(
    play: Play, server: ModelServer, broken: Reply
) -> None:
    turn = await play(reviewer=[broken] * 4)
    assert turn.answer == DRAFT
    assert turn.review["verdict"] == "failed"
    assert answers_asked_for(server) == 2, "a draft without a hard fault is not corrected"


async def test_a_draft_with_a_hard_fault_is_corrected_once_where_the_reviewer_fails(
    play: Play, server: ModelServer
) -> None:
    turn = await play(WRONG, reviewer=[failure(400, "bad request")], corrections=[Reply(DRAFT)])
    correction = server.requests_of("chat")[-1]
    assert answers_asked_for(server) == 3
    assert "tools" not in correction
    assert "868.00 元" in block(correction, "findings")
    assert turn.answer == DRAFT
    assert turn.review["verdict"] == "corrected"
    assert turn.state["turn"]["model_calls"] == 3


@pytest.mark.parametrize(("correction", "verdict"), [(DRAFT, "corrected"), (WRONG, "refused")])
async def test_a_hard_fault_is_corrected_once_where_the_last_revision_is_not_taken(
    play: Play, server: ModelServer, correction: str, verdict: str
) -> None:
    inventing = revise(WRONG + "单号 AS-20240520-9999。", "缺少单号")
    turn = await play(WRONG, reviewer=[inventing] * 2, corrections=[Reply(correction)])
    assert (len(server.requests_of("reviewer")), answers_asked_for(server)) == (2, 3)
    assert (turn.answer, turn.review["verdict"]) == (correction, verdict)


@pytest.mark.parametrize(
    "correction",
    [
        pytest.param(Reply(DRAFT.replace("688.00", "886.00")), id="another fault"),
        pytest.param(Reply("请稍后再试。"), id="says nothing"),
        pytest.param(Reply(WRONG), id="the same"),
        pytest.param(failure(400, "bad request"), id="fails"),
    ],
)
async def test_a_correction_that_is_no_better_leaves_the_draft(play: Play, correction: Reply) -> None:
    first = "您的茶具很抱歉有破损。订单 GHI-20240512-003 于5月16日签收。金额 868.00 元。"
    turn = await play(first, reviewer=[failure(400, "bad request")], corrections=[correction])
    assert turn.answer == first
    assert turn.review["verdict"] == "failed"


async def test_a_slow_reviewer_is_cut_off_by_the_latency_budget(play: Play) -> None:
    began = time.monotonic()
    turn = await play(reviewer=[replace(Reply("late"), delay=20)], steward_review_seconds=1)
    assert turn.answer == DRAFT
    assert time.monotonic() - began < 10


async def test_time_is_kept_to_correct_a_faulty_draft_behind_a_slow_reviewer(play: Play) -> None:
    turn = await play(
        WRONG,
        reviewer=[replace(Reply("late"), delay=20)],
        corrections=[Reply(DRAFT)],
        steward_review_seconds=3,
    )
    assert turn.answer == DRAFT


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
