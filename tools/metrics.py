"""Measurements of tool calls and their circuits, for whatever OpenTelemetry SDK the process configures (O5).

With the API alone every one of them does nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from threading import Lock
from typing import Final
from weakref import WeakSet

from opentelemetry import metrics
from opentelemetry.metrics import CallbackOptions, Observation

from tools.breaker import Breaker, Position
from tools.calls import Outcome

POSITIONS: Final[dict[Position, int]] = {"closed": 0, "half_open": 1, "open": 2}
SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0)
"""Bounds of the histogram's buckets."""

_meter = metrics.get_meter("steward.tools")
_calls = _meter.create_counter("steward.tool.calls", "{call}", "Attempts of tool calls, by outcome")
_duration = _meter.create_histogram(
    "steward.tool.duration", "s", "Time of one attempt of a tool", explicit_bucket_boundaries_advisory=SECONDS
)


def measured(outcome: Outcome) -> None:
    """Count an outcome; one that ran is timed too. Names that a model made up do not become attributes."""
    kind = outcome.envelope.get("error_kind")
    attributes = {
        "gen_ai.tool.name": "unknown" if kind == "unknown_tool" else outcome.name,
        "steward.tool.outcome": "ok" if outcome.ok else "retrying" if outcome.transient else "error",
    }
    if kind is not None:
        attributes["error.type"] = kind
    _calls.add(1, attributes)
    if outcome.attempts:
        _duration.record(outcome.seconds, attributes)


class _Breakers:
    """The breakers of all event loops of this process; asked by the SDK's own thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._all: WeakSet[Breaker] = WeakSet()

    def add(self, breaker: Breaker) -> None:
        with self._lock:
            self._all.add(breaker)

    def observe(self, _: CallbackOptions) -> Iterable[Observation]:
        """The worst position of each tool that has ever failed."""
        with self._lock:
            breakers = list(self._all)
        worst: dict[str, int] = {}
        for tool, position in _positions(breakers):
            worst[tool] = max(worst.get(tool, 0), POSITIONS[position])
        return [Observation(value, {"gen_ai.tool.name": tool}) for tool, value in worst.items()]


def _positions(breakers: Iterable[Breaker]) -> Iterator[tuple[str, Position]]:
    for breaker in breakers:
        yield from breaker.positions().items()


_breakers = _Breakers()
_meter.create_observable_gauge(
    "steward.tool.breaker", [_breakers.observe], "1", "Circuit of a tool: 0 closed, 1 half-open, 2 open"
)


def watch(breaker: Breaker) -> None:
    """Report the breaker's positions for as long as it lives."""
    _breakers.add(breaker)
