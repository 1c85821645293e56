"""A result that is too large for the context, made to fit by rule (T10). No model takes part.

Gentlest cut first: records become tables (nothing lost), long texts are shortened, lists are cut to their head,
and only when one single record is still too large, its fields are cut too, the essential ones last. A short
value is never touched, so identifiers, amounts, dates and states of a kept record stay as they are.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from tools.envelope import dump
from tools.essentials import facts_in, kind_of
from tools.paths import join
from tools.spec import JSON
from tools.tables import compact, is_map_of_records

Count = Callable[[str], int]
"""Tokens of a text."""

Compactor = Callable[[str, str, Any, int], Awaitable[dict[str, Any] | None]]
"""A small model's digest, tried first: (tool, the user's request, result, tokens) -> digest, None where it fails."""

SHORTEST_TEXT: Final = 60
"""Characters; a text is never cut below that, and a value that is no longer is no text."""
_LONGEST_CODE: Final = 200
"""Characters up to which a text without spaces (a link, a key) is taken for an identifier."""
_RECORD_MAP: Final = 8
"""Entries from which a map of like records is cut like a list."""
_NAMED_FACTS: Final = 8
_NAMED_CUTS: Final = 8
_MOST_CHARACTERS_PER_TOKEN: Final = 8
_BEST_TABLE: Final = 6
"""A table is hardly ever smaller than this part of its records."""


@dataclass(frozen=True)
class Reduced:
    """What is left, and what was cut: by path, in words. Nothing was cut where `cut` is empty."""

    data: JSON
    cut: dict[str, str] = field(default_factory=dict)


def fits(text: str, budget: int, count: Count) -> bool:
    """Whether a text is within the budget, in tokens. Cheap for what is short, and for what is far too large."""
    most = len(text) if text.isascii() else 4 * len(text)
    if most <= budget:
        return True  # no token is shorter than a byte
    return len(text) <= budget * _MOST_CHARACTERS_PER_TOKEN and count(text) <= budget


def reduce(data: JSON, budget: int, count: Count) -> Reduced:
    """The data within `budget` tokens (its own note of what was cut included)."""
    whole = dump(data)
    if fits(whole, budget, count):
        return Reduced(data)
    if len(whole) <= budget * _MOST_CHARACTERS_PER_TOKEN * _BEST_TABLE:
        table = compact(data)
        if fits(dump(table), budget, count):
            return Reduced(table)

    def attempt(items: int, text: int, fields: int) -> Reduced | None:
        reduced = _Cutter(items, text, fields, room=budget * _MOST_CHARACTERS_PER_TOKEN * _BEST_TABLE).cut(
            data
        )
        note = None if reduced is None else dump([reduced.data, dict(reduced.cut)])
        return reduced if note is not None and fits(note, budget, count) else None

    # An element, a field or a character needs some part of a token, so no more than this can stay.
    most, longest = max(budget, 1), max(budget * _MOST_CHARACTERS_PER_TOKEN, SHORTEST_TEXT)
    fields = most
    items = _largest(1, most, lambda n: attempt(n, SHORTEST_TEXT, most) is not None)
    if items == 0:
        items = 1
        fields = _largest(1, most, lambda n: attempt(1, SHORTEST_TEXT, n) is not None)
    text = _largest(SHORTEST_TEXT, longest, lambda n: attempt(items, n, fields) is not None)
    return attempt(items, text, fields) or _outline(whole, budget, count)


def _largest(low: int, high: int, good: Callable[[int], bool]) -> int:
    """The largest number from `low` to `high` that is still good; 0 where not even `low` is."""
    if not good(low):
        return 0
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if good(middle) else (low, middle - 1)
    return low


def _outline(text: str, budget: int, count: Count) -> Reduced:
    """The last resort: the beginning of the data, as text."""
    size = budget * 2
    while size > 1 and count(text[:size]) > budget // 2:
        size //= 2
    return Reduced(text[:size], {"data": f"only the first {size} of {len(text)} characters, as text"})


class _TooLarge(Exception):
    """The cut result already exceeds what could fit; the rest need not be looked at."""


class _Cutter:
    """One attempt: lists cut to `items`, texts to `text` characters, records to `fields` fields."""

    def __init__(self, items: int, text: int, fields: int, *, room: int) -> None:
        self._items = items
        self._text = text
        self._fields = fields
        self._room = room
        self._notes: dict[str, str] = {}

    def cut(self, data: JSON) -> Reduced | None:
        """The cut data; None where it is far too large still."""
        try:
            shaped = self._shape(data, "")
        except _TooLarge:
            return None
        notes = dict(list(self._notes.items())[:_NAMED_CUTS])
        if len(self._notes) > _NAMED_CUTS:
            notes["…"] = f"{len(self._notes) - _NAMED_CUTS} more places were cut"
        return Reduced(compact(shaped), notes)

    def _shape(self, value: JSON, path: str) -> JSON:
        if isinstance(value, str):
            short = shorten(value, self._text)
            if short is not value:
                self._note(path, "long texts are shortened")
            self._spend(len(short))
            return short
        self._spend(1)
        if isinstance(value, list):
            if len(value) > self._items:
                self._note(path, f"first {self._items} of {len(value)}")
            return [self._shape(item, f"{path}[]") for item in value[: self._items]]
        if isinstance(value, dict):
            return {name: self._shape(value[name], join(path, name)) for name in self._names(value, path)}
        return value

    def _names(self, value: dict[str, JSON], path: str) -> list[str]:
        """The fields that stay, in their order."""
        names = list(value)
        if len(names) > self._items and len(names) >= _RECORD_MAP and is_map_of_records(value):
            self._note(path, f"first {self._items} of {len(names)}")
            return names[: self._items]
        if len(names) > self._fields:
            self._note(path, f"{self._fields} of {len(names)} fields")
            ranked = sorted(names, key=lambda name: kind_of(name, value[name]) is None)
            kept = set(ranked[: self._fields])
            return [name for name in names if name in kept]
        return names

    def _note(self, path: str, what: str) -> None:
        self._notes.setdefault(path or "data", what)

    def _spend(self, characters: int) -> None:
        self._room -= characters
        if self._room < 0:
            raise _TooLarge


def shorten(text: str, limit: int) -> str:
    """The head of a long text, with the numbers, dates and codes of its tail named. Short texts unchanged."""
    if len(text) <= limit or (len(text) <= _LONGEST_CODE and text.isascii() and " " not in text):
        return text
    tail = text[limit : limit + 20_000]
    facts = [fact for fact in facts_in(tail) if len(fact) > 1 and fact not in text[:limit]]
    named = f"; it names {', '.join(fact[:64] for fact in facts[:_NAMED_FACTS])}" if facts else ""
    return f"{text[:limit]}… [{len(text) - limit} more characters{named}]"
