"""A call that needs a person's word runs only with it."""

from __future__ import annotations

from typing import Any

import pytest

from memory.database import Database
from tests.support.tool_calls import Bench, as_any, call, tool
from tools.calls import Decision, PreparedCall
from tools.errors import BusinessError
from tools.spec import Approval, Arguments, ToolContext


class Refunds:
    def __init__(self) -> None:
        self.paid: list[Arguments] = []

    async def run(self, args: Arguments, context: ToolContext) -> Any:
        self.paid.append(args)
        return {"refund": args["x"]}


async def above_500(args: Arguments, context: ToolContext) -> Approval | None:
    amount = args["x"]
    assert isinstance(amount, int)
    if amount > 500:
        return Approval("staff", f"{amount} is above 500.")
    return Approval("customer", "It cannot be undone.") if amount > 100 else None


def bench_of(database: Database, refunds: Refunds, approval: Any = above_500) -> Bench:
    return Bench(database, [tool("refund", refunds.run, effect="write", approval=approval)])


async def decide(bench: Bench, amount: Any, **decision: Any) -> Any:
    decisions: dict[str, Decision] = {"a": as_any(decision)} if decision else {}
    (outcome,) = await bench.run(call("refund", "a", x=amount), decisions=decisions)
    return outcome


async def test_the_rule_says_of_each_call_who_has_to_be_asked(database: Database) -> None:
    bench = bench_of(database, Refunds())
    prepared = await bench.prepare(call("refund", x=50), call("refund", x=200), call("refund", x=700))
    approvals = [each.approval for each in prepared if isinstance(each, PreparedCall)]
    assert approvals == [
        None,
        Approval("customer", "It cannot be undone."),
        Approval("staff", "700 is above 500."),
    ]


async def test_nothing_runs_without_a_decision(database: Database) -> None:
    refunds = Refunds()
    outcome = await decide(bench_of(database, refunds), 200)
    assert outcome.envelope["error_kind"] == "denied"
    assert not refunds.paid


async def test_what_needs_nobody_runs(database: Database) -> None:
    refunds = Refunds()
    assert (await decide(bench_of(database, refunds), 50)).ok
    assert refunds.paid == [{"x": 50}]


async def test_an_approved_call_runs_once_however_often_it_is_resumed(database: Database) -> None:
    refunds = Refunds()
    bench = bench_of(database, refunds)
    for _ in range(2):
        assert (await decide(bench, 200, type="approve", by="customer")).envelope["data"] == {"refund": 200}
    assert refunds.paid == [{"x": 200}]


async def test_a_rejected_call_is_denied_with_the_persons_words(database: Database) -> None:
    refunds = Refunds()
    outcome = await decide(
        bench_of(database, refunds), 700, type="reject", by="staff", message="Send photos first."
    )
    assert outcome.envelope["error_kind"] == "denied"
    assert "Send photos first." in outcome.envelope["error_desc"]
    assert not refunds.paid


async def test_a_response_is_the_result_and_nothing_runs(database: Database) -> None:
    refunds = Refunds()
    outcome = await decide(
        bench_of(database, refunds), 700, type="respond", by="staff", message="Offer a voucher."
    )
    assert outcome.envelope == {
        "status": "ok",
        "data": {"executed": False, "answer_of": "staff", "answer": "Offer a voucher."},
    }
    assert not refunds.paid


@pytest.mark.parametrize("kind", ["approve", "edit", "respond"])
async def test_a_customer_cannot_approve_what_is_for_staff(database: Database, kind: str) -> None:
    refunds = Refunds()
    outcome = await decide(
        bench_of(database, refunds), 700, type=kind, by="customer", args={"x": 700}, message="ok"
    )
    assert outcome.envelope["error_kind"] == "denied"
    assert not refunds.paid


async def test_a_decision_of_nobody_in_particular_is_the_customers(database: Database) -> None:
    refunds = Refunds()
    assert (await decide(bench_of(database, refunds), 700, type="approve")).envelope["error_kind"] == "denied"
    assert not refunds.paid


async def test_edited_arguments_are_checked_like_any_and_then_run(database: Database) -> None:
    refunds = Refunds()
    bench = bench_of(database, refunds)
    outcome = await decide(bench, 700, type="edit", by="staff", args={"x": "600"})
    assert outcome.args == {"x": 600}
    assert refunds.paid == [{"x": 600}]
    refused = await decide(bench, 700, type="edit", by="staff", args={"x": "much", "y": 1})
    assert refused.envelope["error_kind"] == "invalid_arguments"
    assert len(refunds.paid) == 1


async def test_a_customer_cannot_edit_a_call_into_one_for_staff(database: Database) -> None:
    refunds = Refunds()
    bench = bench_of(database, refunds)
    assert (await decide(bench, 200, type="edit", by="customer", args={"x": 5000})).envelope[
        "error_kind"
    ] == "denied"
    assert (await decide(bench, 200, type="edit", by="customer", args={"x": 300})).ok
    assert refunds.paid == [{"x": 300}]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (BusinessError("No such order.", kind="not_found"), "not_found"),
        (ConnectionRefusedError(), "unavailable"),
        (RuntimeError("x"), "internal"),
    ],
)
async def test_where_the_rule_fails_nothing_runs(database: Database, error: Exception, kind: str) -> None:
    async def rule(args: Arguments, context: ToolContext) -> Approval | None:
        raise error

    refunds = Refunds()
    outcome = await decide(bench_of(database, refunds, rule), 50)
    assert outcome.envelope["error_kind"] == kind
    assert not refunds.paid


async def test_siblings_wait_for_no_decision_of_another_and_nothing_runs_twice(database: Database) -> None:
    refunds = Refunds()
    bench = bench_of(database, refunds)
    calls = [call("refund", "a", x=50), call("refund", "b", x=200), call("refund", "c", x=300)]
    decisions: dict[str, Decision] = {
        "b": {"type": "approve", "by": "customer"},
        "c": {"type": "reject", "by": "customer"},
    }
    for _ in range(2):
        outcomes = await bench.run(*calls, decisions=decisions)
        assert [outcome.envelope.get("error_kind") for outcome in outcomes] == [None, None, "denied"]
    assert sorted(args["x"] for args in as_any(refunds.paid)) == [50, 200]
