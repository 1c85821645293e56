"""`steward eval`: each trial begins afresh, failures are told where they happened, the demo model is judged fairly."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from graph.eval.reading import read_cases
from graph.eval.report import EvalReport, make_report
from graph.eval.run import evaluate
from graph.settings import Settings
from graph.shop import SHOP

CASES = """
user: user_123
now: 2024-05-27T10:00:00+08:00
cases:
  - id: cancelled
    turns:
      - say: 请取消订单 JKL-20240526-004
        expect: {route: order, waits: customer}
      - decide: approve
        expect: {waits: nobody}
    end:
      - {view: order, of: {order_id: JKL-20240526-004}, is: {status: cancelled}}
  - id: falls-short
    level: easy
    turns:
      - say: 订单 ABC-20240520-001 到哪里了
        expect: {answer: {has: [SF0000000000]}}
    end:
      - {view: order, of: {order_id: ABC-20240520-001}, is: {status: lost}}
  - id: beyond
    level: hostile
    needs: [reasoning]
    turns:
      - say: 我买的那个台灯发货了吗
        expect: {answer: {has: [never said]}}
  - id: remembered
    turns:
      - say: 以后查订单直接告诉我到哪了就行，不用再说支付状态
      - say: 订单 DEF-20240525-002 什么情况了
        thread: 2
        days_later: 2
        expect: {answer: {lacks: [支付]}}
    end:
      - {view: memories, is: [~支付]}
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> EvalReport:
    file = tmp_path_factory.mktemp("eval") / "cases.yaml"
    file.write_text(CASES, encoding="utf-8")
    # An address that nothing answers at: the configured database is not what the trials are played on.
    values: dict[str, Any] = {"database_url": "postgresql://nobody@127.0.0.1:1/none"}
    settings = Settings(_env_file=None, **values)
    results = asyncio.run(
        evaluate(read_cases(file, SHOP), settings, SHOP, trials=2, parallel=3, ended=lambda _: None)
    )
    return make_report(results, business="shop", models={}, offline=True, trials=2)


def case(report: EvalReport, name: str) -> Any:
    return next(case for case in report["cases"] if case["id"] == name)


def failures(report: EvalReport, name: str) -> Sequence[Any]:
    return [failure for trial in case(report, name)["trials"] for failure in trial["failures"]]


def test_each_trial_begins_with_nothing_done(report: EvalReport) -> None:
    """An order that the first trial has cancelled can be cancelled by the second."""
    assert case(report, "cancelled")["passed"] == 2


def test_a_failure_says_in_which_turn_and_what(report: EvalReport) -> None:
    found = failures(report, "falls-short")
    assert [failure["turn"] for failure in found] == [1, 0, 1, 0]
    assert "lacks 'SF0000000000'" in found[0]["what"]
    assert "'status': 'lost'" in found[1]["what"]


def test_what_is_remembered_counts_in_another_thread_of_the_case(report: EvalReport) -> None:
    assert failures(report, "remembered") == []


def test_what_the_demo_model_cannot_do_is_counted_apart_and_not_hidden(report: EvalReport) -> None:
    assert case(report, "beyond")["beyond"] == ["reasoning"]
    assert report["pass_hat"] == {"1": 0.5, "2": 0.5}
    assert report["expected"] == {"cases": 3, "pass_hat": {"1": 0.6667, "2": 0.6667}}
    assert report["levels"]["hostile"] == {"cases": 1, "pass_hat": {"1": 0.0, "2": 0.0}}


def test_tokens_and_time_are_those_of_all_trials(report: EvalReport) -> None:
    tokens = [trial["tokens"] for case in report["cases"] for trial in case["trials"]]
    assert report["tokens"] == sum(tokens)
    assert min(tokens) > 0
    assert 0 < report["seconds"]["p50"] <= report["seconds"]["p95"]
