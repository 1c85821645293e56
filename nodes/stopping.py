"""Why a turn ends after a step of tool calls (G7). Pure."""

from __future__ import annotations

from collections.abc import Sequence

from nodes.state import StopReason, ToolCallRecord
from tools.calls import Outcome
from tools.errors import ErrorKind
from tools.keys import canonical
from tools.spec import Arguments

_WHATEVER_IS_ASKED: frozenset[ErrorKind] = frozenset(
    {"denied", "timeout", "unavailable", "internal", "in_doubt", "cancelled"}
)
"""Kinds that say something of the tool, not of the arguments: other arguments are the same error again."""


def stop_reason(before: Sequence[ToolCallRecord], step: Sequence[Outcome]) -> StopReason | None:
    """None: the turn goes on. `before` are the turn's earlier calls that have a result, `step` the new outcomes.

    A step in which something succeeded can be built on. One in which nothing did ends the turn where it cannot
    recover: a tool that is taken out, a refusal or an error that the turn has met before.
    """
    if any(outcome.envelope.get("error_kind") == "limit" for outcome in step):
        return "repeated_call"
    if not step or any(outcome.ok for outcome in step):
        return None
    known = {_error(record["name"], record["error_kind"], record["args"]) for record in before}
    stuck = any(
        outcome.signals.get("breaker") == "open"
        or _error(outcome.name, outcome.envelope.get("error_kind"), outcome.args) in known - {None}
        for outcome in step
    )
    return "unrecoverable" if stuck else None


def _error(tool: str, kind: str | None, args: Arguments) -> tuple[str, ...] | None:
    """Equal for what counts as the same error."""
    if kind is None:
        return None
    return (tool, kind) if kind in _WHATEVER_IS_ASKED else (tool, kind, canonical(args))
