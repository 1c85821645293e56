"""When a failed call is tried again, after what pause, and what the model is told."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.tool_calls import returning, tool
from tools.failures import Failure
from tools.outcomes import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
    LONGEST_RETRY_AFTER,
    envelope_of,
    is_worth_another_try,
    pause,
    told,
)

READ = tool("look", returning(1))
WRITE = tool("pay", returning(1), effect="write")
PUT = tool("put", returning(1), effect="write", repeatable=True)


def failure(**given: Any) -> Failure:
    return Failure(**{"kind": "unavailable", "description": "It is down.", "transient": True, **given})


@pytest.mark.parametrize(
    ("spec", "given", "attempts", "again"),
    [
        (READ, {}, 1, True),
        (READ, {}, 3, False),
        (READ, {"transient": False}, 1, False),
        (READ, {"retry_after": LONGEST_RETRY_AFTER}, 1, True),
        (READ, {"retry_after": LONGEST_RETRY_AFTER + 1}, 1, False),
        (PUT, {}, 1, True),
        (WRITE, {}, 1, False),
        (WRITE, {"without_effect": True}, 1, False),
        (WRITE, {"without_effect": True, "begun": False}, 1, True),
    ],
)
def test_only_what_passes_is_tried_again_and_only_where_it_is_safe(
    spec: Any, given: dict[str, Any], attempts: int, again: bool
) -> None:
    assert is_worth_another_try(failure(**given), spec, attempts, most=3) is again


def test_pauses_grow_and_differ_and_have_a_limit() -> None:
    longest = [max(pause(attempt) for _ in range(300)) for attempt in range(1, 9)]
    for attempt, seconds in enumerate(longest, 1):
        assert seconds <= min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (attempt - 1))
    assert longest[3] > longest[0]
    assert len({pause(3) for _ in range(20)}) > 1


@pytest.mark.parametrize(
    ("spec", "given", "kind"),
    [
        (WRITE, {}, "in_doubt"),
        (WRITE, {"kind": "timeout"}, "in_doubt"),
        (WRITE, {"kind": "internal", "transient": False}, "in_doubt"),
        (WRITE, {"without_effect": True}, "unavailable"),
        (WRITE, {"kind": "business", "without_effect": True}, "business"),
        (WRITE, {"kind": "cancelled"}, "cancelled"),
        (PUT, {}, "unavailable"),
        (READ, {"kind": "internal"}, "internal"),
    ],
)
def test_what_may_have_happened_and_may_not_be_repeated_is_in_doubt(
    spec: Any, given: dict[str, Any], kind: str
) -> None:
    assert told(failure(**given), spec).kind == kind


@pytest.mark.parametrize(
    ("spec", "given", "retryable"),
    [(READ, {}, True), (WRITE, {"without_effect": True}, True), (WRITE, {"kind": "in_doubt"}, False)],
)
def test_the_model_is_told_whether_another_try_makes_sense(
    spec: Any, given: dict[str, Any], retryable: bool
) -> None:
    envelope = envelope_of(failure(**given), spec)
    assert envelope["retryable"] is retryable
    assert envelope["try_next"]
