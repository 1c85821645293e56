"""The `format` keyword: what is checked, how it is told, and spellings that mean the same value.

Formats that are not listed here say nothing about validity, as the standard has it. Date-times may leave out
the zone: models write local times all the time, and the tool knows whose zone is meant.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
import uuid
from collections.abc import Callable
from datetime import date, datetime, time

from jsonschema import FormatChecker

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_DATE_TIME = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?([Zz]|[+-]\d{2}:?\d{2})?", re.ASCII
)
_TIME = re.compile(r"\d{2}:\d{2}(:\d{2}(\.\d+)?)?([Zz]|[+-]\d{2}:?\d{2})?", re.ASCII)
_DURATION = re.compile(r"P(?!$)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?)", re.ASCII)
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+", re.UNICODE)
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")

_LOOSE_DATE = re.compile(r"(\d{4})([-/.年])(\d{1,2})([-/.月])(\d{1,2})日?", re.ASCII)
_COMPACT_DATE = re.compile(r"(\d{4})(\d{2})(\d{2})", re.ASCII)
_MIDNIGHT = re.compile(r"[T ]00:00(:00(\.0+)?)?([Zz]|[+-]\d{2}:?\d{2})?", re.ASCII)
_LOOSE_TIME = re.compile(r"(\d{1,2}):(\d{2})((?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:?\d{2})?)", re.ASCII)

WORDS = {
    "date": "a date as YYYY-MM-DD",
    "date-time": "a date and time as YYYY-MM-DDTHH:MM:SS, with a zone where it matters",
    "time": "a time as HH:MM or HH:MM:SS",
    "duration": "an ISO 8601 duration such as P3D or PT30M",
    "email": "an e-mail address",
    "idn-email": "an e-mail address",
    "ipv4": "an IPv4 address",
    "ipv6": "an IPv6 address",
    "uuid": "a UUID",
    "uri": "an absolute URI such as https://example.com/a",
}


def _date(text: str) -> bool:
    return bool(_DATE.fullmatch(text)) and date.fromisoformat(text) is not None


def _date_time(text: str) -> bool:
    return bool(_DATE_TIME.fullmatch(text)) and datetime.fromisoformat(text.upper()) is not None


def _time(text: str) -> bool:
    return bool(_TIME.fullmatch(text)) and time.fromisoformat(text.upper()) is not None


_CHECKS: dict[str, Callable[[str], bool]] = {
    "date": _date,
    "date-time": _date_time,
    "time": _time,
    "duration": lambda text: bool(_DURATION.fullmatch(text)),
    "email": lambda text: bool(_EMAIL.fullmatch(text)),
    "idn-email": lambda text: bool(_EMAIL.fullmatch(text)),
    "ipv4": lambda text: ipaddress.IPv4Address(text) is not None,
    "ipv6": lambda text: ipaddress.IPv6Address(text) is not None,
    "uuid": lambda text: len(text) == 36 and uuid.UUID(text) is not None,
    "uri": lambda text: bool(_URI.fullmatch(text)),
}


def format_checker() -> FormatChecker:
    """A checker of exactly the formats above; values that are not text pass, as the standard has it."""
    checker = FormatChecker(formats=())
    for name, check in _CHECKS.items():
        checker.checks(name, raises=ValueError)(_for_text(check))
    return checker


def _for_text(check: Callable[[str], bool]) -> Callable[[object], bool]:
    return lambda value: not isinstance(value, str) or check(value)


def canonical(name: str, text: str) -> str | None:
    """The standard spelling of a value written in another way that has one meaning only, else None.

    `2024/5/20`, `2024年5月20日`, `20240520` and `2024-05-20T00:00:00` are 2024-05-20; `05/06/2024` is not
    decidable, and a date is not a date-time.
    """
    plain = unicodedata.normalize("NFKC", text).strip()
    if name == "date":
        return _as_date(plain)
    if name == "date-time":
        return _as_date_time(plain)
    if name == "time":
        return _as_time(plain)
    return plain if plain != text else None


def _as_date(text: str) -> str | None:
    if found := _LOOSE_DATE.fullmatch(text):
        year, first, month, second, day = found.groups()
        consistent = first == second or (first == "年" and second == "月")
        return f"{year}-{int(month):02}-{int(day):02}" if consistent else None
    if found := _COMPACT_DATE.fullmatch(text):
        return "-".join(found.groups())
    if _MIDNIGHT.fullmatch(text[10:]):
        return text[:10]
    return None


def _as_date_time(text: str) -> str | None:
    day, _, clock = text.replace("T", " ").partition(" ")
    whole_day = day if _DATE.fullmatch(day) else _as_date(day)
    whole_time = _as_time(clock.strip())
    return f"{whole_day}T{whole_time}" if whole_day and whole_time else None


def _as_time(text: str) -> str | None:
    found = _LOOSE_TIME.fullmatch(text)
    return f"{int(found[1]):02}:{found[2]}{found[3]}" if found else None
