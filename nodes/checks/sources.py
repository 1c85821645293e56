"""What a draft may draw on, and what of it can be checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from zoneinfo import ZoneInfo

from nodes.business import StateWords
from nodes.checks.vocabulary import StateVocabulary


@dataclass(frozen=True)
class Wish:
    """One intent on the list, and what would show that a draft answers it."""

    words: Sequence[str] = ()
    """Any answer holds at least one of them; none: not checked by words."""
    own: Sequence[str] = ()
    """This turn's successful results of tools that no other intent on the list has."""
    fetched: bool = False
    """Its other tools gave something, which may have been for another intent."""


@dataclass(frozen=True)
class Sources:
    """Everything that facts in a draft can stem from. Results are envelopes as JSON, oldest first."""

    now: datetime
    """With a time zone."""
    timezone: str
    """IANA name of the customer's."""
    results: Sequence[str] = ()
    """Of this turn."""
    earlier_results: Sequence[str] = ()
    user_texts: Sequence[str] = ()
    memories: Sequence[str] = ()
    documents: Sequence[str] = ()
    instructions: Sequence[str] = ()
    """The business's own, and those of the intents on the list."""
    states: Mapping[str, StateWords] = field(default_factory=dict)
    required: Mapping[str, str] = field(default_factory=dict)
    """Values that have to be stated, by the name of their field."""
    wishes: Mapping[str, Wish] = field(default_factory=dict)
    """The intents on the list, by name."""

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    @cached_property
    def vocabulary(self) -> StateVocabulary:
        return StateVocabulary(self.states)

    @property
    def today(self) -> date:
        """The customer's."""
        return self.now.astimezone(self.zone).date()
