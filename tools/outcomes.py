"""From a failure to the outcome of its call: what the model is told, and whether the graph tries again (T5)."""

from __future__ import annotations

import random
from typing import Final, cast

from memory.clean import clean_json
from tools.calls import Envelope, Outcome, RawCall
from tools.envelope import failure as error_envelope
from tools.errors import ErrorKind
from tools.failures import Failure
from tools.spec import Arguments, ToolSpec

FIRST_PAUSE: Final = 0.4
"""Seconds before the second attempt, at most; doubles with each."""
LONGEST_PAUSE: Final = 8.0
LONGEST_RETRY_AFTER: Final = 20.0
"""A longer wait than this that the other side asks for is not waited for within the turn."""
_MAY_BE_IN_DOUBT: Final[frozenset[ErrorKind]] = frozenset({"timeout", "unavailable", "internal"})
_PASSING: Final[frozenset[ErrorKind]] = frozenset({"timeout", "unavailable", "cancelled"})


def refusal(
    call: RawCall, name: str, kind: ErrorKind, text: str, *, args: Arguments | None = None
) -> Outcome:
    """The outcome of a call that did not run. Its arguments are kept as far as they can be (no infinity, say)."""
    kept = cast(Arguments, clean_json(args or call.args or {}).value)
    return Outcome(call.id, name, kept, error_envelope(kind, text), attempts=0)


def in_doubt(tool: str) -> Failure:
    """A side effect that may have happened."""
    return Failure(
        "in_doubt", f"It is not known whether {tool} took effect: it was cut off before it had reported back."
    )


def not_done(tool: str) -> Failure:
    """A side effect of which the tool's own check found nothing."""
    return Failure("cancelled", f"{tool} was cut off before it had done anything.", without_effect=True)


def taken_out(tool: str, seconds: float) -> Failure:
    """The tool's breaker is open."""
    return Failure(
        "unavailable",
        f"{tool} keeps failing and is taken out; it can be tried again in {max(1, round(seconds))} s.",
        without_effect=True,
        begun=False,
    )


def unclaimed(tool: str) -> Failure:
    """The ledger could not be reached, so the side effect was not begun."""
    return Failure(
        "unavailable",
        f"{tool} cannot be run at the moment; nothing was done.",
        transient=True,
        without_effect=True,
        begun=False,
    )


def told(failure: Failure, spec: ToolSpec) -> Failure:
    """The failure as it is told: a side effect that may have happened, and may not be repeated, is in doubt."""
    guarded = spec.effect == "write" and not spec.can_repeat
    if guarded and not failure.without_effect and failure.kind in _MAY_BE_IN_DOUBT:
        return in_doubt(spec.name)
    return failure


def is_worth_another_try(failure: Failure, spec: ToolSpec, attempts: int, most: int) -> bool:
    """Whether the graph is to make the same call again after a pause."""
    return (
        failure.transient
        and (spec.can_repeat or not failure.begun)
        and attempts < most
        and failure.retry_after <= LONGEST_RETRY_AFTER
    )


def envelope_of(failure: Failure, spec: ToolSpec) -> Envelope:
    """What the model is told. A passing failure is retryable where nothing can be done twice."""
    safe = spec.can_repeat or failure.without_effect
    return error_envelope(
        failure.kind,
        failure.description,
        retryable=safe if failure.kind in _PASSING else None,
        try_next=failure.try_next,
    )


def pause(attempts: int) -> float:
    """Seconds before the next attempt: exponential, with full jitter, so that many clients do not come at once."""
    return random.uniform(0, min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (attempts - 1)))
