"""`steward eval`: conversations with expectations, several times each, against the configured endpoint."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graph.cli.printing import note, say_who_answers
from graph.cli.running import OK, BadUsage, run

if TYPE_CHECKING:
    from graph.eval.cases import Case
    from graph.eval.report import EvalReport
    from graph.eval.run import CaseResult
    from graph.settings import Settings
    from nodes.business import Business

FELL_SHORT = 1


@dataclass(frozen=True)
class Wanted:
    """What is played, and how."""

    file: Path | None
    patterns: Sequence[str]
    trials: int
    parallel: int


def evaluate(
    file: Annotated[
        Path | None, typer.Argument(help="Cases, a file or a folder of them; none: those of the business.")
    ] = None,
    trials: Annotated[int, typer.Option("--trials", min=1, max=100, help="Times that each is played.")] = 1,
    case: Annotated[
        list[str] | None, typer.Option("--case", help="Only this id or pattern (order-*); repeatable.")
    ] = None,
    parallel: Annotated[int, typer.Option("--parallel", min=1, max=64, help="Trials at once.")] = 4,
    fail_under: Annotated[
        float | None,
        typer.Option(
            "--fail-under", min=0, max=1, help="Exit code 1 where pass^1 of what is expected is less."
        ),
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of a file of cases.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report as JSON, as the last line.")
    ] = False,
) -> None:
    """Try conversations: pass^1 and pass^k, tokens, latency, and where each fell short."""
    if schema:
        from graph.eval.cases import CaseFile

        print(json.dumps(CaseFile.model_json_schema(), indent=2, ensure_ascii=False))
        return
    wanted = Wanted(file, case or [], trials, parallel)
    run(lambda settings: _evaluate(settings, wanted, fail_under, as_json=as_json))


async def _evaluate(settings: Settings, wanted: Wanted, fail_under: float | None, *, as_json: bool) -> int:
    from graph.chosen_business import chosen_business

    business = chosen_business(settings)
    cases = _cases(wanted, business)
    say_who_answers(settings)
    report = await _played(settings, business, cases, wanted)
    if as_json:
        print(json.dumps(report, ensure_ascii=False), flush=True)
    else:
        _show(report, business.evaluation.demo_lacks if business.evaluation else {})
    reached = report["expected"]["pass_hat"].get("1", 1.0)
    return FELL_SHORT if fail_under is not None and reached < fail_under else OK


def _cases(wanted: Wanted, business: Business) -> list[Case]:
    """The cases that are wanted. Raises BadUsage, BadCases."""
    from graph.eval.reading import read_cases

    file = wanted.file or (business.evaluation.cases if business.evaluation else None)
    if file is None:
        raise BadUsage(f"The business {business.name} declares no cases; name a file of cases.")
    cases = read_cases(file, business)
    patterns = wanted.patterns or ["*"]
    found = [case for case in cases if any(fnmatchcase(case.id, pattern) for pattern in patterns)]
    if not found:
        raise BadUsage(f"No case of {file} is called {' or '.join(patterns)}.")
    return found


async def _played(
    settings: Settings, business: Business, cases: Sequence[Case], wanted: Wanted
) -> EvalReport:
    from graph.eval.report import make_report
    from graph.eval.run import evaluate as play
    from nodes.models import OFFLINE
    from nodes.settings import ROLES

    results = await play(
        cases, settings, business, trials=wanted.trials, parallel=wanted.parallel, ended=_tell
    )
    models: dict[str, str] = {
        role: OFFLINE if settings.offline else settings.model_name(role) for role in ROLES
    }
    return make_report(
        results, business=business.name, models=models, offline=settings.offline, trials=wanted.trials
    )


def _tell(result: CaseResult) -> None:
    """One line a case as it ends, and one for each way in which it fell short."""
    trials = len(result.trials)
    mark = "✓" if result.passed == trials else "✗" if result.expected else "–"
    beyond = f"  (beyond the demo model: {', '.join(result.beyond)})" if result.beyond else ""
    note(f"{mark} {result.passed}/{trials} {result.case.id}{beyond}")
    if result.expected:
        failures = {(f.turn, f.what): None for trial in result.trials for f in trial.failures}
        for turn, what in failures:
            note(f"    {f'turn {turn}' if turn else 'end'}: {what}")


def _show(report: EvalReport, lacks: Mapping[str, str]) -> None:
    """The sums."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    ks = [k for k in report["pass_hat"] if k in ("1", "2", "3", "4", "8", str(report["trials"]))]
    for name in ("", "cases", *(f"pass^{k}" for k in ks)):
        table.add_column(name, justify="left" if not name else "right")
    rows = {**report["levels"], "all": {"cases": len(report["cases"]), "pass_hat": report["pass_hat"]}}
    if report["offline"]:
        rows["expected of the demo model"] = report["expected"]
    for name, row in rows.items():
        table.add_row(name, str(row["cases"]), *(f"{row['pass_hat'].get(k, 0):.3f}" for k in ks))
    console = Console(highlight=False)
    console.print(table)
    unpriced = " and more: some models have no price" if report["unpriced_calls"] else ""
    print(
        f"{report['tokens']:,} tokens, cost {report['cost']:.4f}{unpriced}; "
        f"a turn took {report['seconds']['p50']:.2f} s (p50), {report['seconds']['p95']:.2f} s (p95)"
    )
    for name in sorted({name for case in report["cases"] for name in case["beyond"]}):
        cases = [case for case in report["cases"] if name in case["beyond"]]
        passed = sum(case["passed"] == report["trials"] for case in cases)
        print(
            f"Not expected of the offline demo model: {name} ({lacks[name]}) {passed} of {len(cases)} passed"
        )
