"""Dates in a text, as the days they can mean: 2024-05-20, 5月20日, May 20th, 明天, this Saturday."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from nodes.checks.text import FLAGS, Mention

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY_EN = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_WEEKDAY_ZH = r"(?:周|星期|礼拜)[一二三四五六日天]"
_BEFORE = rf"(?:(?P<weekday_before>\b{_WEEKDAY_EN})\.?,?\s+(?:the\s+)?)?"
_AFTER = rf"(?:\s*\(?(?P<weekday_after>{_WEEKDAY_ZH}|{_WEEKDAY_EN}\b)\)?)?"
_CALENDAR = tuple(
    re.compile(_BEFORE + pattern + _AFTER, FLAGS)
    for pattern in (
        r"(?<![\w\-/])(?P<year>(?:19|20)\d\d)(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})(?![\d\-])(?:T(?=\d))?",
        r"(?:(?P<year>(?:19|20)\d\d)\s*年\s*)?(?<![\d.])(?P<month>\d{1,2})\s*月\s*(?P<day>\d{1,2})\s*[日号]?",
        rf"\b{_MONTH}\s+(?:the\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:\d)(?:,?\s+(?P<year>(?:19|20)\d\d)\b)?",
        rf"(?<![\w\-])(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?![A-Za-z])(?:,?\s+(?P<year>(?:19|20)\d\d)\b)?",
        r"(?<![\w\-/.])(?!24/7)(?P<month>0?[1-9]|1[0-2])/(?P<day>0[1-9]|[12]\d|3[01])(?![\w/%])",
    )
)
_DAY_OF_MONTH = re.compile(r"(?<![\d月.\-/A-Za-z])(?P<day>[12]?\d|3[01])\s*号(?!楼|仓|店|线|门|室|码)", FLAGS)
_RELATIVE = (
    (re.compile(r"大后天"), 3),
    (re.compile(r"后天|the day after tomorrow", FLAGS), 2),
    (re.compile(r"明[天日早晚](?!后)|\btomorrow\b", FLAGS), 1),
    (re.compile(r"今[天日早晚]|\b(?:today|tonight)\b", FLAGS), 0),
    (re.compile(r"前天|the day before yesterday", FLAGS), -2),
    (re.compile(r"昨[天日早晚]|\byesterday\b|\blast night\b", FLAGS), -1),
)
_WEEKDAY = re.compile(
    rf"(?P<week>上上|下下|上个?|下个?|本|这个?)?(?P<zh>{_WEEKDAY_ZH})"
    rf"|(?:\b(?P<which>last|next|this|coming)\s+)?\b(?P<en>mon|tues|wednes|thurs|fri|satur|sun)days?\b",
    FLAGS,
)
_WEEKS = {"上上": -2, "上": -1, "上个": -1, "本": 0, "这": 0, "这个": 0, "下": 1, "下个": 1, "下下": 2}
_REACH = 8
"""Days before and after today that a bare weekday may mean."""


@dataclass(frozen=True)
class Day:
    """The days that a mention can mean; `word` names one that does not say which (`sat`, `20.`)."""

    dates: frozenset[date]
    word: str = ""


def find_dates(text: str, today: date) -> list[Mention[Day]]:
    """Dates in folded text. An impossible one (5月32日, a weekday that does not fit) means no day at all."""
    found: list[Mention[Day]] = []
    for mention in _all(text, today):
        if not any(mention.start < other.end and other.start < mention.end for other in found):
            found.append(mention)
    return sorted(found, key=lambda mention: mention.start)


def _all(text: str, today: date) -> Iterator[Mention[Day]]:
    for pattern in _CALENDAR:
        yield from _matches(pattern, text, lambda match: _calendar(match, today))
    for pattern, days in _RELATIVE:
        day = Day(frozenset([today + timedelta(days=days)]))
        yield from (Mention(match.group(), match.start(), day) for match in pattern.finditer(text))
    yield from _matches(_WEEKDAY, text, lambda match: _weekday(match, today))
    yield from _matches(_DAY_OF_MONTH, text, lambda match: _day_of_month(int(match["day"]), today))


def _matches(
    pattern: re.Pattern[str], text: str, read: Callable[[re.Match[str]], Day]
) -> Iterator[Mention[Day]]:
    for match in pattern.finditer(text):
        yield Mention(match.group().rstrip(" .,"), match.start(), read(match))


def _calendar(match: re.Match[str], today: date) -> Day:
    groups = match.groupdict()
    name = groups.get("name")
    month = _MONTHS.index(name[:3].lower()) + 1 if name else int(groups["month"])
    years = [int(groups["year"])] if groups.get("year") else [today.year - 1, today.year, today.year + 1]
    dates = {made for year in years if (made := _made(year, month, int(groups["day"])))}
    weekday = groups["weekday_before"] or groups["weekday_after"]
    if weekday:
        dates = {made for made in dates if made.weekday() == _number_of(weekday)}
    return Day(frozenset(dates))


def _made(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _weekday(match: re.Match[str], today: date) -> Day:
    weekday = _number_of(match["zh"] or match["en"])
    monday = today - timedelta(days=today.weekday())
    if match["week"]:
        return Day(frozenset([monday + timedelta(weeks=_WEEKS[match["week"]], days=weekday)]))
    near = {today + timedelta(days=n) for n in range(-_REACH, _REACH + 1)}
    dates = {day for day in near if day.weekday() == weekday}
    which = (match["which"] or "").lower()
    if which == "last":
        dates = {day for day in dates if day < today}
    elif which:
        dates = {day for day in dates if day >= today}
    return Day(frozenset(dates), _WEEKDAYS[weekday])


def _number_of(weekday: str) -> int:
    if weekday[-1] in "一二三四五六日天":
        return "一二三四五六日".index(weekday[-1].replace("天", "日"))
    return _WEEKDAYS.index(weekday[:3].lower())


def _day_of_month(day: int, today: date) -> Day:
    first = today.replace(day=1)
    months = [(first - timedelta(days=1)), first, first + timedelta(days=32)]
    dates = {made for month in months if (made := _made(month.year, month.month, day))}
    return Day(frozenset(dates), f"{day}.")
