"""How memories fade: half-lives, and when a memory has faded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from memory.settings import MemorySettings

FADED = 0.05
"""Weight below which a memory counts as faded: after some four half-lives without confirmation."""
IMPORTANT = 0.6
"""From here on a memory is never pruned for age alone."""


@dataclass(frozen=True)
class HalfLives:
    """Days after which a memory that is not confirmed weighs half."""

    fact: float = 180
    preference: float = 120
    decision: float = 60

    @classmethod
    def of(cls, settings: MemorySettings) -> HalfLives:
        return cls(
            settings.steward_half_life_fact_days,
            settings.steward_half_life_preference_days,
            settings.steward_half_life_decision_days,
        )

    def by_type(self) -> Mapping[str, float]:
        """Business state does not fade: it ends when the business says so."""
        return {
            "fact": self.fact,
            "preference": self.preference,
            "decision": self.decision,
            "state": 1_000_000.0,
        }


def weight(age: timedelta, half_life_days: float) -> float:
    """What age leaves of a memory, from 1 to 0.

    >>> weight(timedelta(days=120), 60)
    0.25
    """
    days = max(age.total_seconds(), 0) / 86_400
    return float(0.5 ** (days / half_life_days))
