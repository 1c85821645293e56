"""What the sources say, in the form in which a draft is compared with it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation

from nodes.checks.amounts import find_rates
from nodes.checks.durations import Length, Unit
from nodes.checks.reading import read
from nodes.checks.records import Leaf, Record
from nodes.checks.sources import Sources
from nodes.checks.states import find_states
from nodes.checks.text import compact, fold, sentences
from nodes.checks.vocabulary import StateClaim

_MONEY = re.compile(
    r"amount|total|price|fee|cost|paid|pay|refund|discount|balance|shipping|credit|value|sum|money|金额|价|费",
    re.IGNORECASE,
)
_BARE_NUMBER = re.compile(r"(?<![\w.\-])\d{1,12}(?:\.\d{1,4})?(?![\w\-])", re.ASCII)
_QUANTITY = re.compile(r"quantity|qty|count|pieces|数量|件数", re.IGNORECASE)
_COMING = re.compile(r"(?:until|till|by|before|next|this|for)\s*$", re.IGNORECASE)
_MINOR_UNITS = re.compile(r"_(?:cents|fen|minor)$", re.IGNORECASE)
_SPAN_KEYS: tuple[tuple[re.Pattern[str], Unit], ...] = (
    (re.compile(r"(?:working|business)_days?", re.IGNORECASE), "working day"),
    (re.compile(r"days?(?:_|$)", re.IGNORECASE), "day"),
    (re.compile(r"hours?(?:_|$)", re.IGNORECASE), "hour"),
    (re.compile(r"months?(?:_|$)", re.IGNORECASE), "month"),
)
_NAME_LENGTH = 64
_LARGEST = 10**12
"""Numbers from here on name something and are never computed with."""
_HAPPENED = re.compile(r"(?P<state>\w+?)_(?:at|on|time|date)$")


@dataclass
class Known:
    """Facts of one part of the sources; `|` joins parts."""

    identifiers: set[str] = field(default_factory=set)
    numbers: set[Decimal] = field(default_factory=set)
    inexact: set[Decimal] = field(default_factory=set)
    """Amounts that a text writes without two decimals."""
    amounts: set[Decimal] = field(default_factory=set)
    """Numbers that are money, from which sums and differences are formed."""
    totals: set[Decimal] = field(default_factory=set)
    """Quantity times price, and sums over a whole list."""
    rates: set[Decimal] = field(default_factory=set)
    days: set[date] = field(default_factory=set)
    day_words: set[str] = field(default_factory=set)
    lengths: set[Length] = field(default_factory=set)
    spans: set[tuple[Length, Length]] = field(default_factory=set)
    """From the shorter to the longer end; both the same where it is no range."""
    clocks: set[time] = field(default_factory=set)
    states: set[str] = field(default_factory=set)

    def __or__(self, other: Known) -> Known:
        return Known(*(getattr(self, name) | getattr(other, name) for name in self.__dataclass_fields__))


def known_from_text(texts: Iterable[str], sources: Sources) -> Known:
    """Facts of free text: memories, documents, instructions."""
    known = Known()
    for text in texts:
        _add_text(known, fold(text), sources)
    return known


def known_from_user(texts: Iterable[str], sources: Sources) -> Known:
    """Facts of the customer's own words: a bare number may be an amount, "until Friday" the coming one."""
    known = known_from_text(texts, sources)
    for text in texts:
        folded = fold(text)
        known.numbers |= {Decimal(digits) for digits in _BARE_NUMBER.findall(folded)}
        for sentence in sentences(folded):
            known.days.update(_coming(sentence, sources.today))
    return known


def _coming(sentence: str, today: date) -> Iterator[date]:
    """The days that weekdays in the customer's words mean, where they look ahead."""
    for mention in read(sentence, today).dates:
        days = [day for day in mention.value.dates if day >= today]
        ahead = not mention.quote.isascii() or _COMING.search(sentence[: mention.start])
        if mention.value.word and days and ahead:
            yield min(days)


def known_from_record(record: Record, sources: Sources) -> Known:
    """Facts of one record of a tool result."""
    known = Known(identifiers=set(record.identifiers))
    for leaf in record.leaves:
        _add_leaf(known, leaf, sources)
    _add_totals(known, record)
    return known


def _add_text(known: Known, text: str, sources: Sources) -> None:
    for sentence in sentences(text):
        _add_sentence(known, sentence, sources)


def _add_sentence(known: Known, text: str, sources: Sources) -> None:
    reading = read(text, sources.today)
    known.identifiers |= {form for m in reading.identifiers for form in m.value.forms}
    amounts = {m.value.value for m in reading.amounts}
    known.numbers |= amounts
    known.amounts |= amounts
    known.inexact |= {m.value.value for m in reading.amounts if not m.value.exact}
    known.rates |= set(find_rates(text))
    for mention in reading.dates:
        if mention.value.word:
            known.day_words.add(mention.value.word)
        else:
            known.days |= mention.value.dates
    known.lengths |= {end for m in reading.durations for end in m.value.ends}
    known.spans |= {m.value.ends for m in reading.durations}
    known.clocks |= {m.value for m in reading.clocks}
    known.states |= _asserted(m.value for m in find_states(text, sources.vocabulary))


def _asserted(claims: Iterable[StateClaim]) -> set[str]:
    return {state for claim in claims if not claim.denied for state in claim.states}


def _add_leaf(known: Known, leaf: Leaf, sources: Sources) -> None:
    if isinstance(leaf.value, bool):
        if leaf.value:
            known.states |= sources.vocabulary.named(leaf.key)
        return
    happened = _HAPPENED.fullmatch(leaf.key)
    if happened:
        known.states |= sources.vocabulary.named(happened["state"])
    if isinstance(leaf.value, str):
        _add_string(known, leaf.path, leaf.value, sources)
    else:
        known.identifiers.add(str(leaf.value))
        number = decimal_of(str(leaf.value))
        if number is not None:
            _add_number(known, leaf.path, number)


def _add_string(known: Known, path: str, value: str, sources: Sources) -> None:
    text = fold(value)
    if len(text) <= _NAME_LENGTH:
        known.identifiers |= {compact(text), *(compact(part) for part in text.split("_") if len(part) >= 6)}
    known.states |= sources.vocabulary.named(text)
    moment = _moment(text)
    if moment:
        local = moment.astimezone(sources.zone) if moment.tzinfo else moment
        known.days |= {moment.date(), local.date()}
        known.clocks |= {moment.time().replace(second=0, microsecond=0, tzinfo=None)}
        known.clocks |= {local.time().replace(second=0, microsecond=0, tzinfo=None)}
        return
    number = decimal_of(text)
    if number is not None:
        _add_number(known, path, number)
    _add_text(known, text, sources)


def _add_number(known: Known, path: str, number: Decimal) -> None:
    key = path.rpartition(".")[2]
    if _MINOR_UNITS.search(key):
        number /= 100
    known.numbers.add(number)
    if _MONEY.search(path) or _MINOR_UNITS.search(key):
        known.amounts.add(number)
    for pattern, unit in _SPAN_KEYS:
        if pattern.search(key) and number == int(number):
            known.lengths.add((int(number), unit))
            break


def _add_totals(known: Known, record: Record) -> None:
    """What each object comes to (quantity times price), and the sums of like fields over a list."""
    objects: defaultdict[int, list[tuple[str, Decimal]]] = defaultdict(list)
    fields: defaultdict[str, list[Decimal]] = defaultdict(list)
    for leaf in record.leaves:
        number = None if isinstance(leaf.value, bool) else decimal_of(str(leaf.value))
        if number is not None:
            objects[leaf.parent].append((leaf.path, number))
            if _MONEY.search(leaf.path):
                fields[leaf.path].append(number)
    lines = []
    for values in objects.values():
        counts = [int(n) for path, n in values if _QUANTITY.search(path) and n == int(n) and 0 < n < 100]
        prices = [n for path, n in values if _MONEY.search(path) and not _QUANTITY.search(path)]
        # A customer may keep some of what they bought, so fewer than all count too.
        known.totals |= {n * price for count in counts for n in range(1, count + 1) for price in prices}
        if counts and prices:
            lines.append(max(counts) * min(prices))
    known.totals |= {sum(values, Decimal()) for values in [lines, *fields.values()] if len(values) > 1}


def _moment(text: str) -> datetime | None:
    if not re.match(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d", text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def decimal_of(text: str) -> Decimal | None:
    """The number that a text is, or None."""
    try:
        number = Decimal(text.replace(",", ""))
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number) < _LARGEST else None
