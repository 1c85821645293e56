"""Whether a fact of a draft follows from what is known: said there, or computed from it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable
from datetime import date, time, timedelta
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal

from nodes.checks.amounts import Amount
from nodes.checks.dates import Day
from nodes.checks.durations import Duration, Length
from nodes.checks.identifiers import Identifier
from nodes.checks.known import Known
from nodes.checks.text import Mention

_CENT = Decimal("0.01")
_TERM_BEFORE = re.compile(
    r"(?:截止|截至|最晚|最迟|不晚于|期限|保到|保修到|至|到|即|by|before|until|till|latest|deadline|through|end(?:s|ed)?|"
    r"expires?|that is|i\.e\.|from|between|due|and)[^\d,]{0,12}$",
    re.IGNORECASE,
)
_TERM_AFTER = re.compile(r"(?:[^\d,]{0,4})?(?:前|以前|截止|到期|为止|止|起)", re.IGNORECASE)
_PAST = re.compile(
    r"(?:已经?|超过|过了|晚了?|逾期|延迟|用了|历时|been|for|took|over|already|past)\D{0,6}$", re.IGNORECASE
)
_AGO = re.compile(
    r"\s*(?:之?前|以前|了|ago|late|early|since|overdue|have passed|has passed|old)", re.IGNORECASE
)
_WITHIN = re.compile(
    r"(?:within|\bin|after|takes?|up to|最多|最长|最晚|需要?|要|预计|大约|约)\s*$", re.IGNORECASE
)
_TERM = re.compile(
    r"\s*(?:之?内|以内|无理由|到账|送达|退回|完成|回复|发货|period|window|warranty)", re.IGNORECASE
)
_TOGETHER = re.compile(r"一共|总共|合计|加起来|共|in total|altogether|overall|together", re.IGNORECASE)


def knows_identifier(identifier: Identifier, known: Known) -> bool:
    if identifier.tail:
        return any(name.endswith(identifier.forms[0]) for name in known.identifiers)
    return not known.identifiers.isdisjoint(identifier.forms)


def knows_amount(amount: Amount, known: Known, told: Collection[Decimal] = ()) -> bool:
    """A known number, a sum or difference of two known amounts, a total, or a known share of one.

    `told`: amounts that the draft has already given, and rightly so: what it goes on to compute may rest on them.
    """
    value = amount.value
    if value == 0 or value in known.numbers or value in known.totals:
        return True
    bases = known.amounts | known.totals | set(told)
    if any(value - base in bases or base - value in bases or value + base in bases for base in bases):
        return True
    shares = (
        base * part for base, rate in itertools.product(bases, known.rates) for part in (rate, 1 - rate)
    )
    return any(
        value in (share.quantize(_CENT, ROUND_HALF_UP), share.quantize(_CENT, ROUND_DOWN)) for share in shares
    )


def knows_date(
    mention: Mention[Day], sentence: str, others: Iterable[Day], known: Known, today: date
) -> bool:
    """A known day, or one that a known span of time leads to.

    The span counts from today; where the words are those of a term, also from a known day in the past or from
    one of the `others` that the sentence names, and ranges count too.
    """
    day = mention.value
    if day.word and day.word in known.day_words:
        return True
    if not day.dates.isdisjoint(known.days):
        return True
    bases, lengths = {today}, {low for low, high in known.spans if low == high}
    if _TERM_BEFORE.search(sentence[: mention.start]) or _TERM_AFTER.match(sentence[mention.end :]):
        named = {date for other in others if other is not day for date in other.dates}
        bases, lengths = {base for base in known.days if base <= today or base in named}, known.lengths
    return any(not day.dates.isdisjoint(_after(base, length)) for base in bases for length in lengths)


def knows_duration(span: Duration, before: str, after: str, known: Known, today: date) -> bool:
    """A known span of time, a known range, or the days between today and a known day."""
    if span.low != span.high and span.ends not in known.spans:
        return False
    gone = bool(_PAST.search(before) or _AGO.match(after))
    term = bool(_WITHIN.search(before) or _TERM.match(after))
    return all(
        _knows_length(end, known)
        or (not term and end in _distances(known.days, today, passed=True))
        or (not gone and end in _distances(known.days, today, passed=False) | _remaining(known, today))
        or (bool(_TOGETHER.search(before)) and _is_sum(end, known.lengths))
        for end in span.ends
    )


def knows_clock(clock: time, known: Known) -> bool:
    """A known time; 6:00 may be meant for 18:00."""
    return any(
        other.minute == clock.minute and (other.hour == clock.hour or other.hour == clock.hour + 12)
        for other in known.clocks
    )


def _knows_length(length: Length, known: Known) -> bool:
    count, unit = length
    same: set[Length] = {length}
    if unit == "day" and count % 30 == 0:
        same.add((count // 30, "month"))
    if unit == "month":
        same.add((count * 30, "day"))
    return not known.lengths.isdisjoint(same)


def _is_sum(length: Length, lengths: Iterable[Length]) -> bool:
    counts = [count for count, unit in lengths if unit == length[1]]
    return any(a + b == length[0] for a, b in itertools.combinations_with_replacement(counts, 2))


def _distances(days: Iterable[date], today: date, *, passed: bool) -> set[Length]:
    """Spans from known days to today (`passed`), or from today to known days."""
    lengths: set[Length] = set()
    for day in days:
        gap = (today - day).days if passed else (day - today).days
        if gap > 0:
            months = gap * 12 // 365
            lengths |= {(gap, "day"), (months, "month")}
    return lengths


def _remaining(known: Known, today: date) -> set[Length]:
    """Days that are left of a known span which began on a known day in the past."""
    begun = [day for day in known.days if day < today]
    ends = {end for day in begun for length in known.lengths for end in _after(day, length)}
    return {((end - today).days, "day") for end in ends if end > today}


def _after(start: date, length: Length) -> set[date]:
    """The days on which a span that begins on `start` can be said to end."""
    count, unit = length
    if count > 1000:
        return set()
    if unit == "day":
        return {start + timedelta(days=count)}
    if unit == "working day":
        return {_working_days_after(start, count)}
    if unit == "month":
        return {_months_after(start, count)}
    return {start + timedelta(days=-(-count // 24))}


def _working_days_after(start: date, count: int) -> date:
    day = start
    while count > 0:
        day += timedelta(days=1)
        count -= day.weekday() < 5
    return day


def _months_after(start: date, count: int) -> date:
    years, month = divmod(start.month - 1 + count, 12)
    last = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]
    day = min(start.day, last)
    try:
        return date(start.year + years, month + 1, day)
    except ValueError:  # 29 February of a common year
        return date(start.year + years, 3, 1)
