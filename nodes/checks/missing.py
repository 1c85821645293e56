"""What a draft leaves out: a field that has to be stated, a request that it does not touch on."""

from __future__ import annotations

from datetime import date, datetime

from nodes.checks.known import decimal_of
from nodes.checks.reading import read
from nodes.checks.sources import Sources
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


def unanswered(draft: str, sources: Sources) -> list[str]:
    """Intents on the list of which no word of an answer stands in the draft; only where there are several."""
    if len(sources.wishes) < 2:
        return []
    text = fold(draft).casefold()
    return [
        intent
        for intent, words in sources.wishes.items()
        if words and not any(fold(word).casefold() in text for word in words)
    ]
