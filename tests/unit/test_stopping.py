"""When a step of tool calls ends the turn."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.state import ToolCallRecord
from nodes.stopping import stop_reason
from tools.calls import Outcome
from tools.envelope import failure, success


def ok(name: str = "look") -> Outcome:
    return Outcome("c", name, {}, success(1))


def bad(kind: Any, name: str = "look", x: int = 1, **signals: Any) -> Outcome:
    return Outcome("c", name, {"x": x}, failure(kind, "It failed."), signals=signals)


def made(kind: str | None, name: str = "look", x: int = 1) -> ToolCallRecord:
    status: Any = "error" if kind else "ok"
    return {"id": "b", "name": name, "args": {"x": x}, "status": status, "error_kind": kind, "attempts": 1}


@pytest.mark.parametrize(
    ("before", "step", "reason"),
    [
        ([], [], None),
        ([], [ok()], None),
        ([], [bad("limit")], "repeated_call"),
        ([], [bad("limit"), ok("see")], "repeated_call"),
        ([], [bad("denied")], None),
        ([made("denied")], [bad("denied")], "unrecoverable"),
        ([made("denied")], [bad("denied", x=2)], "unrecoverable"),
        ([made("denied")], [bad("denied", "pay")], None),
        ([], [bad("unavailable", breaker="open")], "unrecoverable"),
        ([], [bad("unavailable", breaker="open"), ok("see")], None),
        ([made("timeout")], [bad("timeout", x=2)], "unrecoverable"),
        ([], [bad("timeout"), bad("timeout", x=2)], None),
        ([made("not_found")], [bad("not_found", x=2)], None),
        ([made("not_found")], [bad("not_found")], "unrecoverable"),
        ([made("invalid_arguments")], [bad("invalid_arguments", x=2)], None),
        ([made("not_found")], [bad("not_found"), ok("see")], None),
        ([made(None)], [bad("internal")], None),
    ],
)
def test_a_step_that_cannot_recover_ends_the_turn(
    before: list[ToolCallRecord], step: list[Outcome], reason: str | None
) -> None:
    assert stop_reason(before, step) == reason
