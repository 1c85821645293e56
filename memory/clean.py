"""Cleaning at the edge: text and values from users and tools, before they reach a message, a checkpoint or a row."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Iterable, Mapping, Set, Sized
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from itertools import islice
from pathlib import PurePath
from typing import Any, NamedTuple
from uuid import UUID

from pydantic import BaseModel

JsonValue = bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"] | None

LARGEST_INTEGER = 2**63 - 1
"""What a checkpoint and a bigint hold."""
LONGEST_LIST = 10_000
"""Items read from what may have no end."""
DEEPEST = 40
MOST_NOTES = 20
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

# Controls (all but newline and tab), and marks that show text in another order than it is read in.
UNWANTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
LINE_END = re.compile("\r\n?|\x85")
SURROGATES = re.compile("[\ud800-\udfff]+")
# Invisible letters that only a model reads; after a black flag a few of them name a region (England, Scotland).
TAGS = re.compile("(\U0001f3f4[\U000e0030-\U000e007a]{3,6}\U000e007f)|[\U000e0000-\U000e007f]+")


def clean_text(text: str) -> str:
    """The text as its reader sees it, storable everywhere.

    Drops NUL and other controls (newline and tab stay; all line ends become newlines), overrides of the writing
    direction, and invisible tag letters. Halves of a character are joined, or replaced where one is missing. Nothing
    else is changed: no trimming, no normalising of widths or accents.
    """
    text = LINE_END.sub("\n", text)
    text = SURROGATES.sub(_join_surrogates, text)
    return TAGS.sub(lambda tags: tags[1] or "", UNWANTED.sub("", text))


def both_ends(text: str, most: int) -> str:
    """A text of at most so many characters: of a longer one the beginning and the end, where people put what they want.

    >>> both_ends("abcdefghij", 6)
    'abc hij'
    """
    half = most // 2
    return text if len(text) <= most else f"{text[:half]} {text[-half:]}"


def is_storable(text: str) -> bool:
    """Whether Postgres takes the text as it is: no NUL, no half of a character. For names, which stay unchanged."""
    return "\x00" not in text and not SURROGATES.search(text)


class Cleaned(NamedTuple):
    """A JSON-native value, and what was lost on the way there, one sentence each."""

    value: JsonValue
    notes: tuple[str, ...]


def clean_json(value: object, *, limit: int = 1_000_000) -> Cleaned:
    """Any Python value as JSON-native data of bounded size; never raises on account of the value.

        clean_json({"price": Decimal("12.50"), "rate": float("nan")})
        # value {"price": "12.50", "rate": None}, notes ("$.rate: nan is no JSON number, null in its place",)

    Decimals keep their digits as text, dates are ISO 8601, durations seconds, sets sorted lists. `limit` is the
    number of characters kept, roughly; what goes beyond it is cut and noted, and so is everything else that
    is lost.
    """
    walker = _Walker(limit)
    cleaned = walker.convert(value, "$", ())
    return Cleaned(cleaned, tuple(walker.notes))


class _Walker:
    """Converts one value; `left` counts down the characters that may still be kept."""

    def __init__(self, limit: int) -> None:
        self.left = limit
        self.notes: list[str] = []

    def note(self, path: str, what: str) -> None:
        if len(self.notes) < MOST_NOTES:
            self.notes.append(f"{path[:100]}: {what}")

    def convert(self, value: object, path: str, above: tuple[int, ...]) -> JsonValue:
        """`above` are the containers that the value stands in, to notice one that holds itself."""
        if isinstance(value, Enum):
            value = value.value
        if value is None or isinstance(value, bool | int | float | str):
            return self._plain(value, path)
        if id(value) in above or len(above) >= DEEPEST:
            self.note(path, "refers to itself, left out" if id(value) in above else "too deep, left out")
            return None
        known = self._scalar(value, path)
        if known is not None:
            return self._text(known, path) if isinstance(known, str) else known
        return self._container(value, path, (*above, id(value)))

    def _plain(self, value: bool | int | float | str | None, path: str) -> JsonValue:
        if isinstance(value, str):
            return self._text(value, path)
        self.left -= 8
        if isinstance(value, float) and not math.isfinite(value):
            self.note(path, f"{value} is no JSON number, null in its place")
            return None
        if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
            return self._text(_digits(value), path)
        # Subclasses (numpy's float64 is one) are reduced to what JSON knows.
        for kind in (bool, int, float):
            if isinstance(value, kind):
                return kind(value)
        return None

    def _text(self, value: str, path: str) -> str:
        text = clean_text(value[: max(self.left, 0)])
        if len(value) > self.left:
            self.note(path, f"cut to {len(text)} of {len(value)} characters")
        self.left -= len(text)
        return text

    def _scalar(self, value: object, path: str) -> str | float | None:
        """What has one customary form in JSON; None: not such a value."""
        if isinstance(value, Decimal):
            if not value.is_finite():
                self.note(path, f"{value} is no JSON number")
            return str(value)
        if isinstance(value, datetime | date | time):
            return value.isoformat()
        if isinstance(value, timedelta):
            return value.total_seconds()
        if isinstance(value, UUID | PurePath):
            return str(value)
        if isinstance(value, bytes | bytearray | memoryview):
            return self._bytes(bytes(value), path)
        return None

    def _bytes(self, value: bytes, path: str) -> str:
        try:
            return value.decode()
        except UnicodeDecodeError:
            self.note(path, f"{len(value)} bytes, given as base64")
            return base64.b64encode(value[: max(self.left, 0)]).decode()

    def _container(self, value: object, path: str, above: tuple[int, ...]) -> JsonValue:
        pairs = _pairs(value)
        if pairs is not None:
            return self._mapping(pairs, path, above)
        if isinstance(value, Set):
            return sorted(self._items(value, path, above), key=_sort_key)
        if callable(listed := getattr(value, "tolist", None)):  # numpy's arrays and scalars
            return self.convert(listed(), path, above)
        if isinstance(value, Iterable) and not isinstance(value, type):
            return self._items(value, path, above)
        return self._object(value, path, above)

    def _mapping(
        self, pairs: Iterable[tuple[object, object]], path: str, above: tuple[int, ...]
    ) -> dict[str, JsonValue]:
        found: dict[str, JsonValue] = {}
        for position, (key, value) in enumerate(pairs):
            if self.left <= 0:
                self.note(path, f"cut after {position} fields")
                break
            name = clean_text(_key(key))[:200]
            if name in found:
                self.note(path, f"two fields are called {name!r}, the later one is kept")
            self.left -= len(name) + 4
            found[name] = self.convert(value, f"{path}.{name}", above)
        return found

    def _items(self, values: Iterable[object], path: str, above: tuple[int, ...]) -> list[JsonValue]:
        found: list[JsonValue] = []
        try:
            for value in islice(values, LONGEST_LIST + 1):
                if self.left <= 0 or len(found) == LONGEST_LIST:
                    self.note(path, f"cut after {len(found)} items" + _of(values))
                    break
                self.left -= 2
                found.append(self.convert(value, f"{path}[{len(found)}]", above))
        except Exception as error:  # a generator runs code of its own
            self.note(path, f"stopped after {len(found)} items by {type(error).__name__}")
        return found

    def _object(self, value: object, path: str, above: tuple[int, ...]) -> JsonValue:
        """An object of its own class: its public fields, else what it says of itself."""
        kind = type(value).__name__
        held = {
            name: held for name, held in getattr(value, "__dict__", {}).items() if not name.startswith("_")
        }
        if held and not isinstance(value, type) and not callable(value):
            self.note(path, f"an object of type {kind}, given by its public fields")
            return self._mapping(held.items(), path, above)
        self.note(path, f"an object of type {kind}, given as text")
        try:
            return self._text(str(value), path)
        except Exception:
            return f"<{kind}>"


def _pairs(value: object) -> Iterable[tuple[object, object]] | None:
    """Fields and values, of whatever has named ones."""
    if isinstance(value, Mapping):
        return value.items()
    if isinstance(value, BaseModel):
        return [
            *((name, getattr(value, name)) for name in type(value).model_fields),
            *(value.model_extra or {}).items(),
        ]
    if is_dataclass(value) and not isinstance(value, type):
        return [(field.name, getattr(value, field.name, None)) for field in fields(value)]
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        asdict: dict[str, Any] = value._asdict()
        return asdict.items()
    return None


def _key(key: object) -> str:
    """As `json.dumps` names them."""
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, bool):
        return json.dumps(key)
    return str(key.value if isinstance(key, Enum) else key)


def _of(values: Iterable[object]) -> str:
    return f" of {len(values)}" if isinstance(values, Sized) else ""


def _sort_key(value: JsonValue) -> str:
    return json.dumps(value, sort_keys=True)


def _digits(value: int) -> str:
    """Python refuses to write out very long integers."""
    try:
        return str(value)
    except ValueError:
        return hex(value)


def _join_surrogates(match: re.Match[str]) -> str:
    return match[0].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
