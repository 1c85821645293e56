"""The sources, ordered by what they speak of: for a sentence about one order, that order's facts count."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from nodes.checks.known import Known, known_from_record, known_from_text, known_from_user
from nodes.checks.records import Record, clusters, records
from nodes.checks.sources import Sources


@dataclass(frozen=True)
class Evidence:
    """What is known, in parts."""

    things: tuple[tuple[frozenset[str], Known], ...]
    """Of each thing that results speak of: the identifiers it goes by, and its facts."""
    parts: tuple[tuple[frozenset[str], frozenset[str]], ...]
    """Of each part of a thing (one parcel of an order): the numbers it goes by, and its states."""
    loose: Known
    """From results, but of no thing in particular."""
    said: Known
    """By the customer."""
    written: Known
    """In memories, documents and instructions."""

    @property
    def everything(self) -> Known:
        return _joined([*(known for _, known in self.things), self.loose, self.said, self.written])

    def thing_of(self, forms: Iterable[str]) -> int | None:
        """Index of the thing that an identifier names."""
        wanted = set(forms)
        return next((index for index, (ids, _) in enumerate(self.things) if ids & wanted), None)

    def about(self, thing: int | None) -> Known:
        """What counts for a sentence about that thing; None: about nothing in particular."""
        if thing is None:
            return self.everything
        return self.things[thing][1] | self.loose | self.said | self.written

    def live_states(self, thing: int | None, forms: Iterable[str]) -> list[Collection[str]]:
        """States that results report: of the part that goes by one of the `forms`, else of the thing, else of each.

        Empty where no result reports any.
        """
        wanted = set(forms)
        if own := {state for numbers, states in self.parts if numbers & wanted for state in states}:
            return [own | self.loose.states]
        known = [k for _, k in self.things] if thing is None else [self.things[thing][1]]
        return [k.states for k in [*known, self.loose] if k.states]


def gather(sources: Sources) -> Evidence:
    """Read all sources once."""
    found = records([*sources.earlier_results, *sources.results])
    said = known_from_user(sources.user_texts, sources)
    said.days.add(sources.today)
    said.clocks.add(sources.now.astimezone(sources.zone).time().replace(second=0, microsecond=0))
    return Evidence(
        things=tuple(
            (ids, _joined(known_from_record(record, sources) for record in members))
            for ids, members in clusters(found)
        ),
        parts=_parts(found, sources),
        loose=_joined(known_from_record(record, sources) for record in found if not record.identifiers),
        said=said,
        written=known_from_text([*sources.memories, *sources.documents, *sources.instructions], sources),
    )


def _parts(found: Sequence[Record], sources: Sources) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """The parts, and the results that are about one of them alone."""
    numbers = {number for record in found for part in record.parts for number in part.own}
    objects = [part for record in found for part in (record, *record.parts) if part.own & numbers]
    return tuple((part.own, frozenset(known_from_record(part, sources).states)) for part in objects)


def _joined(parts: Iterable[Known]) -> Known:
    return reduce(or_, parts, Known())
