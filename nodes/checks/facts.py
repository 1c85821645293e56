"""Facts as a text states them, in a form in which two texts can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time
from typing import Literal

from nodes.checks.amounts import Amount
from nodes.checks.dates import Day
from nodes.checks.durations import Duration
from nodes.checks.identifiers import Identifier
from nodes.checks.vocabulary import StateClaim, StateVocabulary

FactKind = Literal["identifier", "amount", "date", "duration", "clock", "state"]
FactValue = Identifier | Amount | Day | Duration | time | StateClaim


@dataclass(frozen=True)
class Fact:
    """One statement of a text."""

    kind: FactKind
    quote: str
    value: FactValue
    sentence: int
    """Position of the sentence that it stands in."""


def says_the_same(kept: Fact, fact: Fact, vocabulary: StateVocabulary) -> bool:
    """Whether `kept` states what `fact` states, in whatever words: 明天 for 5月28日, delivered for shipped."""
    match kept.value, fact.value:
        case Identifier() as left, Identifier() as right:
            return _names_the_same(left, right)
        case Amount() as left, Amount() as right:
            return left.value == right.value
        case Day() as left, Day() as right:
            return not left.dates.isdisjoint(right.dates)
        case Duration() as left, Duration() as right:
            return left == right
        case time() as left, time() as right:
            return left.minute == right.minute and left.hour % 12 == right.hour % 12
        case StateClaim() as left, StateClaim() as right:
            implied = vocabulary.closure(left.states)
            return left.denied == right.denied and not implied.isdisjoint(right.states)
    return False


def _names_the_same(left: Identifier, right: Identifier) -> bool:
    if left.tail or right.tail:
        short, long = (left, right) if left.tail else (right, left)
        return any(form.endswith(short.forms[0]) for form in long.forms)
    return not set(left.forms).isdisjoint(right.forms)
