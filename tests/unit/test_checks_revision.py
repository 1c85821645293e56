"""A revision is taken only where it keeps what was right and brings in nothing from nowhere."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.shop.review_words import STATES
from nodes.checks import Checker, Sources, corrects, objection

RESULT = {
    "ticket_no": "AS-20240518-1001",
    "order_id": "GHI-20240512-003",
    "status": "open",
    "amount": "459.00",
    "unit_price": "153.00",
    "delivered_at": "2024-05-16T11:26+08:00",
}
SOURCES = Sources(
    now=datetime.fromisoformat("2024-05-18T10:00:00+08:00"),
    timezone="Asia/Shanghai",
    results=[json.dumps({"status": "ok", "data": RESULT})],
    documents=["质量问题15天内可退，1-3个工作日到账。"],
    states=STATES,
)
CHECKER = Checker(SOURCES)
DRAFT = "工单 AS-20240518-1001 已受理，退款 459.00 元，您5月16日签收，15天内可退。"


def refusal(revision: str, problems: Sequence[str] = (), draft: str = DRAFT) -> str | None:
    return objection(CHECKER.check(draft), CHECKER.check(revision), problems, SOURCES.vocabulary)


def is_better(correction: str, draft: str) -> bool:
    return corrects(CHECKER.check(draft), CHECKER.check(correction), SOURCES.vocabulary)


@pytest.mark.parametrize(
    "revision",
    [
        "很抱歉！" + DRAFT + "请保留外包装。",
        "工单AS 20240518 1001已受理，退款￥459.00，您前天签收，15天内可退。",
        "Ticket AS-20240518-1001 was opened, CNY 459.00, delivered on May 16, returnable within 15 days; it is being "
        "handled, and we have opened a ticket.",
    ],
)
def test_a_revision_may_say_the_same_in_other_words(revision: str) -> None:
    assert refusal(revision) is None


@pytest.mark.parametrize(
    ("dropped", "replacement"),
    [
        ("AS-20240518-1001", ""),
        ("459.00 元", "全款"),
        ("5月16日", ""),
        ("15天内", ""),
        ("已受理", ""),
    ],
)
def test_a_right_fact_must_not_be_dropped(dropped: str, replacement: str) -> None:
    assert f'"{dropped.removesuffix("内")}"' in str(refusal(DRAFT.replace(dropped, replacement), ["措辞"]))


@pytest.mark.parametrize(
    "invented", ["单号 AS-20240518-2002。", "运费 12.00 元。", "6月30日到账。", "3小时内联系您。", "已退款。"]
)
def test_a_fact_from_nowhere_must_not_be_brought_in(invented: str) -> None:
    assert "new fault" in str(refusal(DRAFT + invented))


def test_a_wrong_fact_may_go() -> None:
    draft = DRAFT.replace("459.00", "549.00")
    assert refusal(DRAFT, draft=draft) is None
    assert refusal(DRAFT.replace("退款 459.00 元，", ""), draft=draft) is None


def test_a_known_value_in_the_wrong_place_may_be_replaced_where_a_problem_names_it() -> None:
    revision = DRAFT.replace("459.00", "153.00")
    assert refusal(revision, ["退款应为单价 153.00 元，而不是 459.00元。"]) is None
    assert refusal(revision, ["金额不对。"]) is not None


def test_a_fault_that_the_draft_had_too_is_no_reason_to_refuse() -> None:
    draft = DRAFT + "6月30日到账。"
    assert refusal("您好！" + draft, draft=draft) is None


def test_a_correction_has_to_have_fewer_hard_faults_and_no_new_one() -> None:
    draft = "很抱歉给您添麻烦了。工单 AS-20240518-1001 已受理。退款 549.00 元。"
    assert is_better(draft.replace("549.00", "459.00"), draft)
    assert is_better("很抱歉给您添麻烦了。工单 AS-20240518-1001 已受理。", draft)
    assert not is_better(draft, draft)
    assert not is_better(draft.replace("549.00", "648.00"), draft)
    assert not is_better("请稍后再试。", draft), "what stood beside no fault has to stay"


@given(st.lists(st.sampled_from(DRAFT.split("，")), max_size=5))
def test_no_revision_made_of_parts_of_the_draft_is_taken_unless_it_keeps_them_all(parts: list[str]) -> None:
    complete = set(parts) == set(DRAFT.split("，"))
    assert (refusal("，".join(parts)) is None) is complete
