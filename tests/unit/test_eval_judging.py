"""A turn is held against what was expected of it, and a score is estimated without bias."""

from __future__ import annotations

from itertools import combinations
from statistics import fmean
from typing import Any

import pytest

from graph.eval.cases import TurnExpectation
from graph.eval.judging import judge_turn, judge_view, matches
from graph.eval.scores import pass_hat, pass_hats, percentile
from graph.outcome import TurnOutcome

OUTCOME: TurnOutcome = {
    "thread_id": "t",
    "answer": "Order ABC-1 is shipped: 299.00 CNY.",
    "clarification": None,
    "intents": [{"name": "order"}, {"name": "logistics"}],
    "tool_calls": [
        {"name": "look", "args": {"no": "ABC-1", "more": True}, "status": "ok", "error_kind": None},
        {"name": "write", "args": {"no": "X"}, "status": "error", "error_kind": "ungrounded_argument"},
        {"name": "send", "args": {}, "status": "error", "error_kind": "not_found"},
    ],
    "memories": [],
    "stopped_because": None,
    "interrupt": None,
    "usage": {},
}


def judged(expected: dict[str, Any], *invented: str) -> list[str]:
    expectation = TurnExpectation.model_validate(expected)
    return judge_turn(expectation, OUTCOME, waits=[], handed_over=False, invented=invented)


@pytest.mark.parametrize(
    "expected",
    [
        {"route": "order"},
        {"route": ["logistics", "order"]},
        {"asks": False},
        {"calls": [{"look": {"no": "abc1"}}]},
        {"calls": [{"look": {"no": "~BC"}}, {"send": None}]},
        {"never": ["write"]},
        {"errors": ["not_found"]},
        {"answer": {"has": ["abc-1"], "has_one": ["nothing", "２９９.00"], "lacks": ["refund"]}},
        {"waits": "nobody"},
        {"handed_over": False},
    ],
)
def test_what_is_as_expected_passes(expected: dict[str, Any]) -> None:
    assert judged(expected) == []


@pytest.mark.parametrize(
    ("expected", "sentence"),
    [
        ({"route": "logistics"}, "logistics should lead"),
        ({"route": ["order", "chat"]}, "should be served"),
        ({"asks": True}, "did not ask"),
        ({"calls": [{"look": {"no": "ABC-2"}}]}, "is missing"),
        ({"calls": [{"look": {}}, {"look": {}}]}, "is missing"),
        ({"calls": [{"write": {}}]}, "is missing"),
        ({"never": ["look"]}, "look ran"),
        ({"errors": ["timeout"]}, "no call ended in timeout"),
        ({"answer": {"has": ["refund"]}}, "lacks 'refund'"),
        ({"answer": {"has_one": ["a refund", "returned"]}}, "none of"),
        ({"answer": {"lacks": ["SHIPPED"]}}, "has 'SHIPPED'"),
        ({"waits": "staff"}, "waits for nobody, not for staff"),
        ({"handed_over": True}, "not with a person"),
        ({"stopped": "time"}, "expected time"),
    ],
)
def test_what_is_not_as_expected_is_told(expected: dict[str, Any], sentence: str) -> None:
    assert len(found := judged(expected)) == 1
    assert sentence in found[0]


def test_numbers_without_a_source_count_unless_the_case_says_otherwise() -> None:
    assert "CD-9" in judged({}, "CD-9")[0]
    assert judged({"answer": {"grounded": False}}, "CD-9") == []


def test_all_who_are_waited_for_have_to_be_expected() -> None:
    assert (
        "customer and staff"
        in judge_turn(
            TurnExpectation(waits="staff"),
            OUTCOME,
            waits=["staff", "customer"],
            handed_over=False,
            invented=[],
        )[0]
    )


def test_a_view_is_compared_by_the_fields_that_are_named() -> None:
    assert judge_view("order", {"status": "paid"}, {"status": "paid", "total": "1.00"}) == []
    assert judge_view("order", {"status": "paid"}, None)
    assert judge_view("order", None, None) == []
    assert matches([{"no": "~12"}], [{"no": "9"}, {"no": "A-12"}])
    assert not matches([{"no": "~12"}], [])
    assert not matches(True, "true")


@pytest.mark.parametrize(("passed", "trials"), [(0, 4), (1, 4), (3, 4), (4, 4), (2, 5)])
def test_pass_hat_is_the_share_of_all_choices_that_passed_throughout(passed: int, trials: int) -> None:
    outcomes = [True] * passed + [False] * (trials - passed)
    for k in range(1, trials + 1):
        share = fmean(all(choice) for choice in combinations(outcomes, k))
        assert pass_hat(passed, trials, k) == pytest.approx(share)


def test_the_score_of_a_set_is_the_mean_over_its_cases() -> None:
    assert pass_hats([4, 2], 4) == pytest.approx({1: 0.75, 2: (1 + 1 / 6) / 2, 3: 0.5, 4: 0.5})
    assert pass_hats([], 4) == {}
    with pytest.raises(ValueError, match="k is 1 to 2"):
        pass_hat(1, 2, 3)
    assert percentile([3, 1, 2], 0.5) == 2
    assert percentile([], 0.5) == 0
