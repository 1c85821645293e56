"""The sources, ordered by what they speak of: for a sentence about one order, that order's facts count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import or_

from nodes.checks.known import Known, known_from_record, known_from_text, known_from_user
from nodes.checks.records import clusters, records
from nodes.checks.sources import Sources


@dataclass(frozen=True)
class Evidence:
    """What is known, in parts."""

    things: tuple[tuple[frozenset[str], Known], ...]
    """Of each thing that results speak of: the identifiers it goes by, and its facts."""
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

    def live_states(self, thing: int | None) -> list[set[str]]:
        """States that results report, thing by thing; empty where no result reports any."""
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
        loose=_joined(known_from_record(record, sources) for record in found if not record.identifiers),
        said=said,
        written=known_from_text([*sources.memories, *sources.documents, *sources.instructions], sources),
    )


def _joined(parts: Iterable[Known]) -> Known:
    return reduce(or_, parts, Known())
