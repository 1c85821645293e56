"""When a statement that holds for a time only comes to its end: "this week", "tomorrow", in the customer's zone."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from memory.phrasing import is_passing

_ISO = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_UNTIL = re.compile(r"\buntil (?:next )?(mon|tue|wed|thu|fri|sat|sun)\w*\b", re.IGNORECASE)


def _sunday(day: date) -> date:
    return day + timedelta(days=6 - day.weekday())


def _last_of_month(day: date) -> date:
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)


_ENDS: tuple[tuple[re.Pattern[str], Callable[[date], date]], ...] = (
    (re.compile(r"后天|day after tomorrow", re.IGNORECASE), lambda day: day + timedelta(days=2)),
    (re.compile(r"明[天晚早日]|\btomorrow\b", re.IGNORECASE), lambda day: day + timedelta(days=1)),
    (re.compile(r"今[天晚早日]|\b(?:today|tonight)\b", re.IGNORECASE), lambda day: day),
    (
        re.compile(r"下个?(?:周|星期|礼拜)|\bnext week\b", re.IGNORECASE),
        lambda day: _sunday(day) + timedelta(days=7),
    ),
    (re.compile(r"[这本]个?(?:周|星期|礼拜)|\bthis week(?:end)?\b", re.IGNORECASE), _sunday),
    (
        re.compile(r"这[几两]天|\bthese days\b|\bthe next few days\b", re.IGNORECASE),
        lambda day: day + timedelta(days=6),
    ),
    (
        re.compile(r"下个?月|\bnext month\b", re.IGNORECASE),
        lambda day: _last_of_month(_last_of_month(day) + timedelta(days=1)),
    ),
    (re.compile(r"[这本]个?月|\bthis month\b", re.IGNORECASE), _last_of_month),
)


def ends_at(text: str, said_at: datetime, timezone: str) -> datetime | None:
    """The first moment (UTC) at which a passing statement holds no more; None where it names no end.

    `said_at` needs a time zone; days are those of `timezone`, an IANA name.

    >>> ends_at("Deliver to the office this week", datetime(2024, 5, 20, tzinfo=UTC), "UTC").isoformat()
    '2024-05-27T00:00:00+00:00'
    """
    if not is_passing(text):
        return None
    zone = ZoneInfo(timezone)
    today = said_at.astimezone(zone).date()
    days = [last(today) for pattern, last in _ENDS if pattern.search(text)]
    days += [day for match in _ISO.finditer(text) if (day := _date(match)) is not None]
    days += [_coming(match[1], today) for match in _UNTIL.finditer(text)]
    if not days:
        return None
    return datetime.combine(max(days) + timedelta(days=1), time(), zone).astimezone(UTC)


def _date(match: re.Match[str]) -> date | None:
    try:
        return date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None


def _coming(weekday: str, today: date) -> date:
    ahead = (_WEEKDAYS.index(weekday[:3].lower()) - today.weekday()) % 7 or 7
    return today + timedelta(days=ahead)
