"""Times of the day in a text: 08:15, 上午8点15分, 6 pm."""

from __future__ import annotations

import re
from datetime import time

from nodes.checks.text import FLAGS, Mention

_CLOCK = re.compile(
    r"(?P<half>凌晨|早上|上午|中午|下午|傍晚|晚上|晚)?\s?"
    r"(?<![\d.:\-+])(?P<hour>\d{1,2})(?:[:](?P<minute>\d{2})(?::\d{2}(?:\.\d+)?)?(?![\d:])"
    r"|[点时](?![间候建原要说注])(?:(?P<zh_minute>\d{1,2})分?|(?P<half_past>半))?)?"
    r"(?:\s*(?P<meridiem>[ap]\.?m)\b)?",
    FLAGS,
)


def find_clocks(text: str) -> list[Mention[time]]:
    """Times of the day in folded text."""
    return [
        Mention(
            match.group().strip(), match.start() + len(match.group()) - len(match.group().lstrip()), value
        )
        for match in _CLOCK.finditer(text)
        if (value := _time(match)) is not None
    ]


def _time(match: re.Match[str]) -> time | None:
    minute = match["minute"] or match["zh_minute"]
    named_hour = "点" in match.group() or "时" in match.group()
    if minute is None and not named_hour and not match["meridiem"]:
        return None
    hour = int(match["hour"])
    if _is_afternoon(match) and hour < 12:
        hour += 12
    elif _is_morning(match) and hour == 12:
        hour = 0
    minutes = 30 if match["half_past"] else int(minute or 0)
    return time(hour, minutes) if hour < 24 and minutes < 60 else None


def _is_afternoon(match: re.Match[str]) -> bool:
    meridiem = (match["meridiem"] or "").lower()
    return match["half"] in ("下午", "傍晚", "晚上", "晚") or meridiem.startswith("p")


def _is_morning(match: re.Match[str]) -> bool:
    return (match["meridiem"] or "").lower().startswith("a") or match["half"] == "凌晨"
