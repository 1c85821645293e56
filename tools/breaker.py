"""Takes a tool that keeps failing out for a while (T6), so that nobody waits for what will not come.

closed ──failures in a row──▶ open ──after a while──▶ half-open ──one trial──▶ closed, or open again
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Position = Literal["closed", "open", "half_open"]


@dataclass
class _Circuit:
    failures: int = 0
    opened_at: float | None = None
    on_trial: bool = False


class Breaker:
    """One circuit a tool. Belongs to one event loop: it takes no locks.

    Only what says that the tool does not work counts as a failure; "no such order" does not.
    """

    def __init__(self, failures: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = failures
        self._seconds = seconds
        self._clock = clock
        self._circuits: dict[str, _Circuit] = {}

    def admit(self, tool: str) -> float:
        """0 where a call may run, else the seconds to wait. In half-open it lets one call through.

        Whoever is let through reports back by `succeeded`, `failed` or `abandoned`.
        """
        circuit = self._circuits.get(tool)
        if circuit is None or circuit.opened_at is None:
            return 0.0
        left = circuit.opened_at + self._seconds - self._clock()
        if left > 0:
            return left
        if circuit.on_trial:
            return min(1.0, self._seconds)
        circuit.on_trial = True
        return 0.0

    def succeeded(self, tool: str) -> None:
        """The tool works: closed, and all failures forgotten."""
        if tool in self._circuits:
            self._circuits[tool] = _Circuit()

    def failed(self, tool: str) -> None:
        """The tool does not work; opens after enough failures in a row, at once after a failed trial."""
        circuit = self._circuits.setdefault(tool, _Circuit())
        circuit.failures += 1
        if circuit.on_trial or circuit.failures >= self._limit:
            circuit.opened_at = self._clock()
            circuit.on_trial = False

    def abandoned(self, tool: str) -> None:
        """The call ended without telling anything, such as by cancellation from outside."""
        if circuit := self._circuits.get(tool):
            circuit.on_trial = False

    def position(self, tool: str) -> Position:
        """For logs and metrics."""
        circuit = self._circuits.get(tool)
        if circuit is None or circuit.opened_at is None:
            return "closed"
        return "half_open" if self._clock() >= circuit.opened_at + self._seconds else "open"

    def positions(self) -> dict[str, Position]:
        """Of every tool that has ever failed; may be asked from another thread."""
        return {tool: self.position(tool) for tool in list(self._circuits)}
