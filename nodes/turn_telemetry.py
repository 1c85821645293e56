"""What is measured of a whole turn: how it ended, and how long it took (O5)."""

from __future__ import annotations

import time
from typing import Final

from opentelemetry import metrics

from nodes.state import AgentState

SECONDS: Final = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0, 120.0, 240.0)
"""Bounds of the histogram's buckets."""

_meter = metrics.get_meter("steward.turns")
_turns = _meter.create_counter("steward.turns", "{turn}", "Turns, by how they ended")
_duration = _meter.create_histogram(
    "steward.turn.duration",
    "s",
    "Time of a turn, from its message or from the last decision on an approval",
    explicit_bucket_boundaries_advisory=SECONDS,
)


def turn_ended(state: AgentState, budget: float) -> None:
    """Count a turn that has come to its end; `budget` is what its wall clock allowed, in seconds."""
    attributes = {"steward.turn.end": ending(state), "steward.intent": _leading_intent(state)}
    _turns.add(1, attributes)
    _duration.record(max(0.0, time.time() - (state["turn"]["deadline"] - budget)), attributes)


def ending(state: AgentState) -> str:
    """`answered`, `clarified`, `not_served` (an unreadable message, a used-up allowance), `handed_over`, `fault`, or
    the limit that ended it."""
    route = state.get("route")
    if state.get("fault"):
        return "fault"
    if stopped := state.get("stopped_because"):
        return stopped
    if state.get("handoff"):
        return "handed_over"
    if route is None:
        return "not_served"
    return "clarified" if route["ask"] else "answered"


def _leading_intent(state: AgentState) -> str:
    route = state.get("route")
    return route["intents"][0]["name"] if route and route["intents"] else "none"
