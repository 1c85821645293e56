"""Spans of time in a text: 3-5 working days, 七天内, within 24 hours, a two-year warranty."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from nodes.checks.numerals import COUNT, number
from nodes.checks.text import FLAGS, Mention

Unit = Literal["hour", "day", "working day", "month"]
Length = tuple[int, Unit]

_UNITS = (
    r"(?P<working>个?工作日|(?:business|working|work)[\s-]days?)"
    r"|(?P<hour>个?小时|hours?|hrs?\b)"
    r"|(?P<day>天|日(?=内|后|前|之内|以内|无理由|期限|保)|days?)"
    r"|(?P<week>个?星期(?![一二三四五六日天])|周(?![一二三四五六日天边])|weeks?)"
    r"|(?P<month>个月|months?)"
    r"|(?P<year>年(?!\d|[一二三四五六七八九十]|级|份)|years?)"
)
_DURATION = re.compile(
    rf"(?<![\d.\-/月年A-Za-z¥$])(?:(?P<low>{COUNT})\s*(?:-|到|至|to\b|or\b|and\b)\s*)?(?P<high>{COUNT})[\s-]*(?:{_UNITS})"
    r"(?![A-Za-z])",
    FLAGS,
)
_VAGUE_BEFORE = re.compile(
    r"(?:这|那|过|近|前|头|好|每|第|快|差不多|大概|大约|once|twice|per|about|around|almost|nearly|roughly)\s*$",
    FLAGS,
)
_VAGUE_AFTER = re.compile(r"\s*(?:左右|上下|or two\b|or so\b)", FLAGS)
_AROUND_ONE = re.compile(r"(?:within|in|after|takes?|take|up to|another|needs?|需|要|提前|再过)\s*$", FLAGS)
_AFTER_ONE = re.compile(
    r"\s*(?:之?内|以内|之?后|以后|之?前|左右|ago|later|late|early|left|warrant|from|of\b)", FLAGS
)
_BARE_RANGE = re.compile(
    r"(?<![\w.\-/:$¥])(?P<low>\d{1,2})\s*(?:-|到|至|to\b)\s*(?P<high>\d{1,2})(?=\s*(?:[,.;。]|$|and\b|or\b))",
    FLAGS,
)
_END = re.compile(r"[.!?。\n]")
_ROUND_THE_CLOCK = re.compile(r"\s*(?:在线|客服|服务|热线|hotline|online|support|service|a day)", FLAGS)


@dataclass(frozen=True)
class Duration:
    """From `low` to `high`; equal where the text names one number."""

    low: Length
    high: Length

    @property
    def ends(self) -> tuple[Length, Length]:
        return self.low, self.high


def find_durations(text: str) -> list[Mention[Duration]]:
    """Spans of time in folded text; vague ones (a few days, these two days) are left out."""
    found = [
        Mention(match.group(), match.start(), _duration(match))
        for match in _DURATION.finditer(text)
        if _is_meant(text, match)
    ]
    return [*found, *_without_unit(text, found)] if found else found


def _without_unit(text: str, found: list[Mention[Duration]]) -> Iterator[Mention[Duration]]:
    """Ranges that take their unit from the span before them: "Alipay in 1 to 3 days, bank cards in 3 to 7"."""
    for match in _BARE_RANGE.finditer(text):
        before = [span for span in found if span.end <= match.start()]
        if before and not _END.search(text[before[-1].end : match.start()]):
            unit = before[-1].value.high[1]
            value = Duration((int(match["low"]), unit), (int(match["high"]), unit))
            yield Mention(match.group(), match.start(), value)


def _is_meant(text: str, match: re.Match[str]) -> bool:
    before, after = text[: match.start()], text[match.end() :]
    if _VAGUE_BEFORE.search(before) or _VAGUE_AFTER.match(after):
        return False
    if match["hour"] and match["high"] == "24" and _ROUND_THE_CLOCK.match(after):
        return False
    if match["low"] is None and match["high"].lower() in ("一", "a", "an") and not match["working"]:
        # "Have a nice day", "美好的一天": one of something is a span only beside a word of time.
        return bool(_AROUND_ONE.search(before) or _AFTER_ONE.match(after) or match["year"])
    return True


def _duration(match: re.Match[str]) -> Duration:
    high = number(match["high"])
    low = number(match["low"]) if match["low"] else high
    return Duration(_length(low, match), _length(high, match))


def _length(count: int, match: re.Match[str]) -> Length:
    if match["working"]:
        return count, "working day"
    if match["hour"]:
        return (count // 24, "day") if count and count % 24 == 0 else (count, "hour")
    if match["week"]:
        return count * 7, "day"
    if match["year"]:
        return count * 12, "month"
    return (count, "month") if match["month"] else (count, "day")
