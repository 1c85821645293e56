"""A reviewer that fails, is slow or answers nonsense costs no draft, and a hard fault is corrected without it."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from tests.support.model_replies import Reply, failure
from tests.support.model_server import ModelServer
from tests.support.reviewed import DRAFT, WRONG, Play, answers_asked_for, block, revise


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
