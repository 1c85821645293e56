"""What a draft leaves out: a field that has to be stated, a request that it does not touch on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime

from nodes.checks.evidence import Evidence
from nodes.checks.known import decimal_of, known_from_record
from nodes.checks.reading import read
from nodes.checks.records import Record, records
from nodes.checks.sources import Sources, Wish
from nodes.checks.states import find_states
from nodes.checks.text import compact, fold


def missing_fields(draft: str, sources: Sources) -> list[str]:
    """Names of the required values that the draft does not state, in whatever spelling."""
    return [name for name, value in sources.required.items() if not _states(draft, value, sources)]


def _states(draft: str, value: str, sources: Sources) -> bool:
    if compact(value) in compact(draft):
        return True
    reading = read(fold(draft), sources.today)
    number = decimal_of(value)
    if number is not None and any(mention.value.value == number for mention in reading.amounts):
        return True
    day = _day(value)
    return day is not None and any(day in mention.value.dates for mention in reading.dates)


def _day(value: str) -> date | None:
    try:
        return datetime.fromisoformat(value).date()
    except ValueError:
        return None


def unanswered(draft: str, sources: Sources, evidence: Evidence) -> list[str]:
    """Intents on the list that the draft does not touch on; only where there are several.

    Cautious: one value or word in common with a result that was fetched for the request alone counts as an answer,
    and so does the number of the thing that it is about; with nothing fetched, one of the words of an answer.
    """
    if len(sources.wishes) < 2:
        return []
    text = fold(draft).casefold()
    draft_facts = _DraftFacts(text, sources, evidence)
    return [name for name, wish in sources.wishes.items() if not _answers(draft_facts, wish)]


def _answers(draft: _DraftFacts, wish: Wish) -> bool:
    if wish.own:
        return draft.touches(wish.own)
    if wish.fetched or not wish.words:
        return True
    return any(fold(word).casefold() in draft.text for word in wish.words)


class _DraftFacts:
    """What a draft holds, to be compared with single results."""

    def __init__(self, text: str, sources: Sources, evidence: Evidence) -> None:
        self.text = text
        self._sources = sources
        self._terms = _terms(text)
        self._reading = read(text, sources.today)
        self._states = {state for m in find_states(text, sources.vocabulary) for state in m.value.states}
        things = {evidence.thing_of(m.value.forms) for m in self._reading.identifiers} - {None}
        self._names = {name for thing in things if thing is not None for name in evidence.things[thing][0]}

    def touches(self, results: Sequence[str]) -> bool:
        """Whether it holds anything of the results: a number, a date, a state, a word of a name."""
        return any(self._touches(record) for record in records(results))

    def _touches(self, record: Record) -> bool:
        if self._names & record.identifiers:
            return True
        known = known_from_record(record, self._sources)
        reading = self._reading
        return (
            any(m.value.value in known.numbers for m in reading.amounts)
            or any(not m.value.dates.isdisjoint(known.days) for m in reading.dates)
            or bool(self._states & known.states)
            or any(not self._terms.isdisjoint(_terms(leaf.value)) for leaf in record.leaves)
        )


def _terms(value: object) -> set[str]:
    """What a name may be shortened to: each two Chinese characters, each longer word."""
    if not isinstance(value, str):
        return set()
    text = fold(value).casefold()
    pairs = {run[i : i + 2] for run in re.findall(r"[\u4e00-\u9fff]+", text) for i in range(len(run) - 1)}
    return pairs | set(re.findall(r"[a-z]{4,}", text))
