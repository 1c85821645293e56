"""A draft against its sources: each fact against what is known of the thing that it is said of."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal

from nodes.checks.amounts import Amount
from nodes.checks.dates import Day
from nodes.checks.evidence import Evidence, gather
from nodes.checks.facts import Fact, FactKind, FactValue
from nodes.checks.faults import Fault
from nodes.checks.grounding import (
    knows_amount,
    knows_clock,
    knows_date,
    knows_duration,
    knows_identifier,
)
from nodes.checks.identifiers import Identifier
from nodes.checks.known import Known
from nodes.checks.missing import missing_fields, unanswered
from nodes.checks.reading import read
from nodes.checks.sources import Sources
from nodes.checks.states import find_states
from nodes.checks.text import Mention, fold, sentences
from nodes.checks.vocabulary import StateClaim

_TOGETHER = re.compile(
    r"一共|总共|合计|加起来|共|都|两|总|in total|altogether|overall|together|both|\ball\b|each", re.IGNORECASE
)
_NEAR = 15
"""Characters from the number of a thing within which words are surely said of it, whatever else is named."""

_Named = tuple[Mention[Identifier], int]
"""A number in the sentence, with the index of the thing it names."""


@dataclass(frozen=True)
class Checked:
    """A draft's facts, right ones and others, and its faults in the order of its words."""

    facts: tuple[Fact, ...]
    right: tuple[Fact, ...]
    faults: tuple[Fault, ...]
    faulty_sentences: frozenset[int]


class Checker:
    """Checks texts against the same sources. Reads them once; no I/O, some 5 ms."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._evidence = gather(sources)

    def check(self, draft: str) -> Checked:
        """What the draft states, and what is wrong with it; what is missing comes last."""
        facts: list[Fact] = []
        right: list[Fact] = []
        faults: list[Fault] = []
        faulty: set[int] = set()
        for position, sentence in enumerate(sentences(fold(draft))):
            told = {fact.value.value for fact in right if isinstance(fact.value, Amount)}
            reading = _Sentence(sentence, position, self._evidence, self._sources, told)
            for fact, fault in reading.checked():
                facts.append(fact)
                if fault is not None:
                    faults.append(fault)
                    faulty.add(position)
                elif not self._is_now(fact):
                    right.append(fact)
        faults.extend(Fault("required", name) for name in missing_fields(draft, self._sources))
        faults.extend(Fault("wish", name) for name in unanswered(draft, self._sources, self._evidence))
        return Checked(tuple(facts), tuple(right), tuple(dict.fromkeys(faults)), frozenset(faulty))

    def _is_now(self, fact: Fact) -> bool:
        """A bare "today" is a way of speaking rather than a fact to keep."""
        return isinstance(fact.value, Day) and fact.value.dates == {self._sources.today}


def find_faults(draft: str, sources: Sources) -> list[Fault]:
    """All faults of a draft.

    >>> find_faults("Your ticket is T1024.", Sources(now, "UTC", results=['{"status": "ok", "data": {"no": "T1042"}}']))
    [Fault(kind='identifier', quote='T1024')]
    """
    return list(Checker(sources).check(draft).faults)


class _Sentence:
    """One sentence of a draft; `checked` gives its facts, each with its fault, if any."""

    def __init__(
        self, text: str, position: int, evidence: Evidence, sources: Sources, told: Collection[Decimal]
    ) -> None:
        self._text = text
        self._told = told
        self._position = position
        self._evidence = evidence
        self._sources = sources
        self._reading = read(text, sources.today)
        self._named = [
            (mention, thing)
            for mention in self._reading.identifiers
            if (thing := evidence.thing_of(mention.value.forms)) is not None
        ]

    def checked(self) -> list[tuple[Fact, Fault | None]]:
        found = [*self._identifiers(), *self._amounts(), *self._times(), *self._states()]
        return [(fact, fault) for _, fact, fault in sorted(found, key=lambda item: item[0])]

    def _identifiers(self) -> Iterator[tuple[int, Fact, Fault | None]]:
        known = self._evidence.everything
        for m in self._reading.identifiers:
            fault = None if knows_identifier(m.value, known) else Fault("identifier", m.quote)
            yield self._fact("identifier", m, fault)

    def _amounts(self) -> Iterator[tuple[int, Fact, Fault | None]]:
        # A policy may be quoted as it is written ("from 99元").
        quoted = self._evidence.written.inexact
        for m in self._reading.amounts:
            fault = None
            if not knows_amount(m.value, self._known(m.start), self._told):
                fault = Fault("amount", m.quote)
            elif not m.value.exact and m.value.value not in quoted:
                fault = Fault("decimals", m.quote)
            yield self._fact("amount", m, fault)

    def _times(self) -> Iterator[tuple[int, Fact, Fault | None]]:
        today = self._sources.today
        named = [day.value for day in self._reading.dates]
        for day in self._reading.dates:
            right = knows_date(day, self._text, named, self._known(day.start), today)
            yield self._fact("date", day, None if right else Fault("date", day.quote))
        for span in self._reading.durations:
            before, after = self._text[: span.start], self._text[span.end :]
            right = knows_duration(span.value, before, after, self._known(span.start), today)
            yield self._fact("duration", span, None if right else Fault("date", span.quote))
        for clock in self._reading.clocks:
            right = knows_clock(clock.value, self._known(clock.start))
            yield self._fact("clock", clock, None if right else Fault("date", clock.quote))

    def _states(self) -> Iterator[tuple[int, Fact, Fault | None]]:
        for m in find_states(self._text, self._sources.vocabulary):
            right = self._is_true(m.value, self._subject(m.start))
            yield self._fact("state", m, None if right else Fault("state", m.quote))

    def _fact(
        self, kind: FactKind, mention: Mention[FactValue], fault: Fault | None
    ) -> tuple[int, Fact, Fault | None]:
        return mention.start, Fact(kind, mention.quote, mention.value, self._position), fault

    def _known(self, position: int) -> Known:
        subject = self._subject(position)
        return self._evidence.about(subject[1] if subject else None)

    def _subject(self, position: int) -> _Named | None:
        """The number, with the thing it names, that the words at a position speak of, where that is plain."""
        before = [named for named in self._named if named[0].end <= position]
        if len({thing for _, thing in self._named}) == 1:
            return before[-1] if before else self._named[0]
        start, end = _part(self._text, position)
        if _TOGETHER.search(self._text[start:end]):
            return None
        beside = [named for named in self._named if start < named[0].end <= end]
        if len({thing for _, thing in beside}) == 1:
            return beside[0]
        if not before or (beside and position - before[-1][0].end > _NEAR):
            return None
        return before[-1]

    def _is_true(self, claim: StateClaim, subject: _Named | None) -> bool:
        vocabulary = self._sources.vocabulary
        forms, thing = (subject[0].value.forms, subject[1]) if subject else ((), None)
        live = [vocabulary.closure(states) for states in self._evidence.live_states(thing, forms)]
        if claim.denied:
            return not live or not all(claim.states & states for states in live)
        if live:
            return any(claim.states & states for states in live)
        told = self._evidence.said.states | self._evidence.written.states
        return bool(claim.states & vocabulary.closure(told))


def _part(sentence: str, position: int) -> tuple[int, int]:
    """The part between commas that holds a position."""
    commas = [match.start() for match in re.finditer(r",(?!\d)", sentence)]
    start = max((at for at in commas if at < position), default=0)
    end = min((at for at in commas if at >= position), default=len(sentence))
    return start, end
