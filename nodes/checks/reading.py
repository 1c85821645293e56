"""All facts that a text holds, each character read once: a date is no amount, an amount no order number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time
from functools import lru_cache

from nodes.checks.amounts import Amount, find_amounts
from nodes.checks.clocks import find_clocks
from nodes.checks.dates import Day, find_dates
from nodes.checks.durations import Duration, find_durations
from nodes.checks.identifiers import Identifier, find_identifiers
from nodes.checks.text import Mention, blank

_SHORT = 200
"""Characters up to which a reading is kept."""
_ADDRESS = re.compile(r"https?://[!-~]+|[\w.+\-]{1,64}@[\w\-]{1,63}(?:\.[\w\-]{1,63}){1,6}", re.ASCII)


@dataclass(frozen=True)
class Reading:
    identifiers: Sequence[Mention[Identifier]]
    amounts: Sequence[Mention[Amount]]
    dates: Sequence[Mention[Day]]
    durations: Sequence[Mention[Duration]]
    clocks: Sequence[Mention[time]]


def read(text: str, today: date) -> Reading:
    """The facts of a folded text; relative dates are resolved from `today`."""
    return _read_short(text, today) if len(text) <= _SHORT else _read(text, today)


@lru_cache(maxsize=4096)  # the values of results repeat, and each round reads the same ones
def _read_short(text: str, today: date) -> Reading:
    return _read(text, today)


def _read(text: str, today: date) -> Reading:
    text = _ADDRESS.sub(lambda match: " " * len(match.group()), text)
    durations = find_durations(text)
    text = blank(text, durations)
    dates = find_dates(text, today)
    text = blank(text, dates)
    clocks = find_clocks(text)
    text = blank(text, clocks)
    amounts = find_amounts(text)
    text = blank(text, amounts)
    return Reading(find_identifiers(text), amounts, dates, durations, clocks)
