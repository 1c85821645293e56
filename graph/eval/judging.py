"""A turn, and the end of a conversation, against what was expected of it. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graph.eval.cases import AnswerExpectation, TurnExpectation
from graph.outcome import TurnOutcome

NEVER_RAN = frozenset(
    {"unknown_tool", "invalid_arguments", "missing_argument", "ungrounded_argument", "limit"}
)
"""Error kinds of calls that the engine stopped before anything ran."""
PART = "~"


def judge_turn(
    expected: TurnExpectation,
    outcome: TurnOutcome,
    *,
    waits: Sequence[str],
    handed_over: bool,
    invented: Sequence[str],
) -> list[str]:
    """What the turn fell short of, a sentence each.

    `waits`: who has to approve what waits; `invented`: numbers, amounts and dates of the answer that no source has.
    """
    return [
        *_route(expected, outcome),
        *_calls(expected, outcome["tool_calls"]),
        *_answer(expected.answer, outcome["answer"], invented),
        *_ending(expected, outcome, waits, handed_over),
    ]


def _route(expected: TurnExpectation, outcome: TurnOutcome) -> Iterator[str]:
    found = [intent["name"] for intent in outcome["intents"]]
    if isinstance(expected.route, str) and expected.route not in found[:1]:
        yield f"route: {expected.route} should lead, found {', '.join(found) or 'none'}"
    if isinstance(expected.route, list) and not set(expected.route) <= set(found):
        yield f"route: {', '.join(expected.route)} should be served, found {', '.join(found) or 'none'}"
    asked = outcome["clarification"] is not None
    if expected.asks is not None and asked != expected.asks:
        yield f"the agent {'asked' if asked else 'did not ask'} which kind of request is meant"


def _calls(expected: TurnExpectation, calls: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    made = ", ".join(f"{call['name']} {call['args']}" for call in calls) or "none"
    left = [call for call in calls if call["error_kind"] not in NEVER_RAN]
    for wanted in expected.calls:
        for name, arguments in wanted.items():
            match = next((c for c in left if c["name"] == name and matches(arguments or {}, c["args"])), None)
            if match is None:
                yield f"call {name} {arguments or {}} is missing; made: {made}"
            else:
                left.remove(match)
    ran = {call["name"] for call in calls if call["status"] in ("ok", "pending")}
    for name in expected.never:
        if name in ran:
            yield f"{name} ran, and should not have"
    kinds = {call["error_kind"] for call in calls}
    for kind in expected.errors:
        if kind not in kinds:
            yield f"no call ended in {kind}; made: {made}"


def _answer(expected: AnswerExpectation, answer: str, invented: Sequence[str]) -> Iterator[str]:
    text = folded(answer)
    for piece in expected.has:
        if folded(piece) not in text:
            yield f"the answer lacks {piece!r}: {_short(answer)}"
    if expected.has_one and not any(folded(piece) in text for piece in expected.has_one):
        yield f"the answer has none of {', '.join(map(repr, expected.has_one))}: {_short(answer)}"
    for piece in expected.lacks:
        if folded(piece) in text:
            yield f"the answer has {piece!r}: {_short(answer)}"
    if expected.grounded and invented:
        yield f"the answer states what no source has: {', '.join(invented)}"


def _ending(
    expected: TurnExpectation, outcome: TurnOutcome, waits: Sequence[str], handed_over: bool
) -> Iterator[str]:
    if expected.waits is not None and {expected.waits} != (set(waits) or {"nobody"}):
        yield f"the turn waits for {' and '.join(sorted(set(waits))) or 'nobody'}, not for {expected.waits}"
    if expected.handed_over is not None and handed_over != expected.handed_over:
        yield f"the thread is {'' if handed_over else 'not '}with a person"
    if outcome["stopped_because"] != expected.stopped:
        yield f"the turn was stopped by {outcome['stopped_because']}, expected {expected.stopped}"


def judge_view(name: str, expected: Any, found: Any) -> list[str]:
    """What a view shows, against what it should show."""
    if matches(expected, found):
        return []
    return [f"in the end, {name} is {_short(str(found))}, expected {expected}"]


def matches(expected: Any, found: Any) -> bool:
    """Whether a value is as expected: of objects the named fields, of lists each expected item, texts by their letters
    and digits; `~text` is part of a text.

    >>> matches({"order_id": "abc-1"}, {"order_id": "ABC1", "total": "2.00"})
    True
    """
    if isinstance(expected, Mapping):
        return isinstance(found, Mapping) and all(
            name in found and matches(value, found[name]) for name, value in expected.items()
        )
    if isinstance(expected, list):
        return isinstance(found, list) and all(any(matches(e, f) for f in found) for e in expected)
    if isinstance(expected, str) and found is not None and not isinstance(found, Mapping | list):
        wanted, text = _bare(expected.removeprefix(PART)), _bare(str(found))
        return wanted in text if expected.startswith(PART) else wanted == text
    return bool(expected == found)


def folded(text: str) -> str:
    """A text as answers are compared: no case, no width, no white space.

    >>> folded("ＡＢＣ 1")
    'abc1'
    """
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def _bare(text: str) -> str:
    return "".join(char for char in folded(text) if char.isalnum()) or folded(text)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= 160 else f"{flat[:160]}…")
