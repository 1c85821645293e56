"""What an evaluation came to, as an object that scripts read. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypedDict

from graph.eval.cases import LEVELS
from graph.eval.run import CaseResult
from graph.eval.scores import pass_hats, percentile


class CaseReport(TypedDict):
    id: str
    level: str
    expected: bool
    """Whether the model that played is expected to pass it."""
    beyond: list[str]
    """What the offline demo model has not, and the case needs."""
    passed: int
    trials: list[dict[str, Any]]


class EvalReport(TypedDict):
    business: str
    models: dict[str, str]
    offline: bool
    trials: int
    cases: list[CaseReport]
    pass_hat: dict[str, float]
    """pass^k by k, over all cases."""
    expected: dict[str, Any]
    """The same over the cases that this model is expected to pass, with their number."""
    levels: dict[str, dict[str, Any]]
    tokens: int
    cost: float
    unpriced_calls: int
    seconds: dict[str, float]
    """Of a turn: `p50`, `p95`."""


def make_report(
    results: Sequence[CaseResult], *, business: str, models: Mapping[str, str], offline: bool, trials: int
) -> EvalReport:
    """The whole report."""
    played = [trial for result in results for trial in result.trials]
    seconds = [turn for trial in played for turn in trial.seconds]
    return {
        "business": business,
        "models": dict(models),
        "offline": offline,
        "trials": trials,
        "cases": [_case(result) for result in results],
        "pass_hat": _pass(results, trials),
        "expected": _group([result for result in results if result.expected], trials),
        "levels": {
            level: _group(found, trials)
            for level in LEVELS
            if (found := [result for result in results if result.case.level == level])
        },
        "tokens": sum(trial.tokens for trial in played),
        "cost": round(sum(trial.cost for trial in played), 6),
        "unpriced_calls": sum(trial.unpriced_calls for trial in played),
        "seconds": {"p50": round(percentile(seconds, 0.5), 3), "p95": round(percentile(seconds, 0.95), 3)},
    }


def _case(result: CaseResult) -> CaseReport:
    return {
        "id": result.case.id,
        "level": result.case.level,
        "expected": result.expected,
        "beyond": list(result.beyond),
        "passed": result.passed,
        "trials": [
            {
                "passed": trial.passed,
                "failures": [asdict(failure) for failure in trial.failures],
                "seconds": [round(turn, 3) for turn in trial.seconds],
                "tokens": trial.tokens,
                "cost": round(trial.cost, 6),
            }
            for trial in result.trials
        ],
    }


def _group(results: Sequence[CaseResult], trials: int) -> dict[str, Any]:
    return {"cases": len(results), "pass_hat": _pass(results, trials)}


def _pass(results: Sequence[CaseResult], trials: int) -> dict[str, float]:
    hats = pass_hats([result.passed for result in results], trials)
    return {str(k): round(value, 4) for k, value in hats.items()}
