"""Faults of a draft that need no model to be seen: facts from nowhere, a form not kept, a wish not answered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from nodes.checks.evidence import Evidence, gather
from nodes.checks.grounding import (
    knows_amount,
    knows_clock,
    knows_date,
    knows_duration,
    knows_identifier,
)
from nodes.checks.known import Known
from nodes.checks.missing import missing_fields, unanswered
from nodes.checks.reading import Reading, read
from nodes.checks.sources import Sources
from nodes.checks.states import StateClaim, closure, find_states
from nodes.checks.text import Mention, fold, sentences

FaultKind = Literal["identifier", "amount", "date", "state", "decimals", "required", "wish"]

_SENTENCES: dict[FaultKind, str] = {
    "identifier": 'The number "{quote}" is in no source.',
    "amount": 'The amount "{quote}" is in no source, and follows from none.',
    "date": 'The date or time "{quote}" is in no source, and follows from none.',
    "state": 'The state "{quote}" is not what the results say.',
    "decimals": 'The amount "{quote}" is not written with two decimals.',
    "required": 'The value of "{quote}", which has to be stated, is missing.',
    "wish": 'The request of kind "{quote}" seems to be left unanswered.',
}
_SOFT: frozenset[FaultKind] = frozenset({"decimals", "wish"})


@dataclass(frozen=True)
class Fault:
    """One fault. `hard`: the draft should not go out with it."""

    kind: FaultKind
    quote: str
    """The words of the draft; for what is missing, the name of it."""

    @property
    def hard(self) -> bool:
        return self.kind not in _SOFT

    @property
    def text(self) -> str:
        """The fault in a sentence, for the reviewer."""
        return _SENTENCES[self.kind].format(quote=self.quote)


def find_faults(draft: str, sources: Sources) -> list[Fault]:
    """All faults of a draft, in the order of its words; what is missing comes last.

    >>> find_faults("Your ticket is T1024.", Sources(now, "UTC", results=['{"status": "ok", "data": {"no": "T1042"}}']))
    [Fault(kind='identifier', quote='T1024')]
    """
    evidence = gather(sources)
    faults = [
        fault
        for sentence in sentences(fold(draft))
        for fault in _SentenceCheck(sentence, evidence, sources).faults()
    ]
    faults.extend(Fault("required", name) for name in missing_fields(draft, sources))
    faults.extend(Fault("wish", name) for name in unanswered(draft, sources, evidence))
    return list(dict.fromkeys(faults))


class _SentenceCheck:
    """One sentence against the evidence, each fact against the thing that it is said of."""

    def __init__(self, sentence: str, evidence: Evidence, sources: Sources) -> None:
        self._sentence = sentence
        self._evidence = evidence
        self._sources = sources
        self._reading: Reading = read(sentence, sources.today)
        self._subjects = [
            (mention.start, thing)
            for mention in self._reading.identifiers
            if (thing := evidence.thing_of(mention.value.forms)) is not None
        ]

    def faults(self) -> list[Fault]:
        found = [
            *self._identifiers(),
            *self._amounts(),
            *self._dates(),
            *self._states(),
        ]
        return [fault for _, fault in sorted(found, key=lambda item: item[0])]

    def _known(self, mention: Mention[object]) -> Known:
        return self._evidence.about(self._subject(mention.start))

    def _subject(self, position: int) -> int | None:
        """The thing that the words at a position speak of, where the sentence makes that plain."""
        things = {thing for _, thing in self._subjects}
        if len(things) == 1:
            return next(iter(things))
        start, end = _part(self._sentence, position)
        beside = {thing for at, thing in self._subjects if start <= at < end}
        if len(beside) == 1:
            return next(iter(beside))
        before = [thing for at, thing in self._subjects if at < position]
        return before[-1] if before and not beside else None

    def _identifiers(self) -> Iterator[tuple[int, Fault]]:
        known = self._evidence.everything
        for mention in self._reading.identifiers:
            if not knows_identifier(mention.value, known):
                yield mention.start, Fault("identifier", mention.quote)

    def _amounts(self) -> Iterator[tuple[int, Fault]]:
        written = self._evidence.written
        for mention in self._reading.amounts:
            known = self._known(mention)
            if not knows_amount(mention.value, known):
                yield mention.start, Fault("amount", mention.quote)
            elif not mention.value.exact and mention.value.value not in written.inexact:
                # A policy may be quoted as it is written ("from 99元").
                yield mention.start, Fault("decimals", mention.quote)

    def _dates(self) -> Iterator[tuple[int, Fault]]:
        today = self._sources.today
        for day in self._reading.dates:
            if not knows_date(day.value, self._sentence, self._known(day), today):
                yield day.start, Fault("date", day.quote)
        for span in self._reading.durations:
            before, after = self._sentence[: span.start], self._sentence[span.end :]
            if not knows_duration(span.value, before, after, self._known(span), today):
                yield span.start, Fault("date", span.quote)
        for clock in self._reading.clocks:
            if not knows_clock(clock.value, self._known(clock)):
                yield clock.start, Fault("date", clock.quote)

    def _states(self) -> Iterator[tuple[int, Fault]]:
        for mention in find_states(self._sentence, self._sources.states):
            if not self._is_true(mention.value, self._subject(mention.start)):
                yield mention.start, Fault("state", mention.quote)

    def _is_true(self, claim: StateClaim, thing: int | None) -> bool:
        vocabulary = self._sources.states
        live = [closure(states, vocabulary) for states in self._evidence.live_states(thing)]
        if claim.denied:
            return not live or not all(claim.states & states for states in live)
        if live:
            return any(claim.states & states for states in live)
        told = self._evidence.said.states | self._evidence.written.states
        return bool(claim.states & closure(told, vocabulary))


def _part(sentence: str, position: int) -> tuple[int, int]:
    """The part between commas that holds a position."""
    commas = [match.start() for match in re.finditer(r",(?!\d)", sentence)]
    start = max((at for at in commas if at < position), default=0)
    end = min((at for at in commas if at >= position), default=len(sentence))
    return start, end


def hard_faults(faults: Sequence[Fault]) -> list[Fault]:
    return [fault for fault in faults if fault.hard]
