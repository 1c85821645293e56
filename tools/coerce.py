"""Readings of one value that a schema refuses: what it would be if it had been written as the schema asks.

Only what loses nothing and has one meaning: "5" for an integer, a JSON text for an object, `In Transit` for
the choice `in_transit`. Each function looks at one value, one keyword; `tools.validate` decides when to ask.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from tools.formats import canonical
from tools.json_text import Unreadable, read_json

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?", re.ASCII)
_VARIANT = re.compile(r"[\s_\-–—]+")


def plain(text: str) -> str:
    """Full-width letters and digits as ASCII, no space around."""
    return unicodedata.normalize("NFKC", text).strip()


def as_type(value: object, types: Sequence[str]) -> list[object]:
    """The readings of `value` as one of `types`, best first, each once."""
    readings: list[object] = []
    for name in types:
        for reading in _READERS.get(name, _nothing)(value):
            if not any(same(reading, known) for known in readings):
                readings.append(reading)
    return readings


def as_choice(value: object, choices: Sequence[object]) -> list[object]:
    """The choice that `value` spells differently (case, space, dash, quoted number), if only one fits."""
    fits: list[object] = []
    if isinstance(value, str):
        spelt = _spelling(value)
        fits = [each for each in choices if isinstance(each, str) and spelt and _spelling(each) == spelt]
        fits += [each for each in choices if not isinstance(each, str) and _is_text_of(value, each)]
    elif isinstance(value, int) and not isinstance(value, bool):
        fits = [each for each in choices if each == str(value)]
    return fits if len(fits) == 1 else []


def as_format(value: object, name: str) -> list[object]:
    reading = canonical(name, value) if isinstance(value, str) else None
    return [] if reading is None else [reading]


def as_plain(value: object) -> list[object]:
    """Full-width spelling folded, for a value that misses its pattern."""
    return [plain(value)] if isinstance(value, str) and plain(value) != value else []


def means_null(value: object) -> bool:
    return value is None or (isinstance(value, str) and plain(value).lower() == "null")


def same(left: object, right: object) -> bool:
    """Equal as JSON: true is not 1, and 1 is 1.0."""
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def _nothing(value: object) -> list[object]:
    return []


def _number(value: object) -> list[object]:
    if not isinstance(value, str) or not _NUMBER.fullmatch(text := plain(value)):
        return []
    exact = Decimal(text)
    if exact == exact.to_integral_value() and exact.adjusted() < 40:
        return [int(exact)]
    reading = float(text)
    try:
        lossless = Decimal(repr(reading)) == exact
    except InvalidOperation:
        return []
    return [reading] if lossless else []


def _integer(value: object) -> list[object]:
    return [each for each in _number(value) if isinstance(each, int)]


def _boolean(value: object) -> list[object]:
    if not isinstance(value, str):
        return []
    word = plain(value).lower()
    return [word == "true"] if word in ("true", "false") else []


def _string(value: object) -> list[object]:
    """A whole number as its digits; a fraction has lost its spelling (1.50) and is left alone."""
    return [str(value)] if isinstance(value, int) and not isinstance(value, bool) else []


def _null(value: object) -> list[object]:
    return [None] if isinstance(value, str) and means_null(value) else []


def _container(value: object, kind: type) -> list[object]:
    if not isinstance(value, str):
        return []
    try:
        reading = read_json(value).value
    except Unreadable:
        return []
    return [reading] if isinstance(reading, kind) else []


_READERS: dict[str, Any] = {
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "string": _string,
    "null": _null,
    "object": lambda value: _container(value, dict),
    "array": lambda value: _container(value, list),
}


def _spelling(text: str) -> str:
    return _VARIANT.sub("", plain(text).casefold())


def _is_text_of(text: str, choice: object) -> bool:
    if choice is None or isinstance(choice, bool):
        return plain(text).lower() == json.dumps(choice)
    if isinstance(choice, int | float):
        return any(same(reading, choice) for reading in _number(text))
    return False
