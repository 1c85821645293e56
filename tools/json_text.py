"""Reading JSON as models write it: exact JSON first, then near misses that have one meaning only.

Taken as written, since nothing is lost: single or typographic quotes, Python's True, False and None, trailing
commas, comments, bare keys, full-width colons and commas, line breaks inside a string. Never guessed: a text
that ends early, a quote inside a string, a missing comma, an unknown escape, NaN, one key with two values.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

MAX_DEPTH = 100

TOO_DEEP = "it is nested too deeply"
CUT_OFF = "the text ends before its object is closed, as if it had been cut off"

_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_SPACE = re.compile(r"(?:\s|\ufeff|\u200b|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_CLOSING = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\\": "\\", "/": "/", '"': '"', "'": "'"}


class Unreadable(ValueError):
    """The text has no certain reading; the message says why, in words for the model."""


@dataclass(frozen=True)
class Reading:
    value: Any
    exact: bool
    """Valid JSON as it stands."""


def read_json(text: str) -> Reading:
    """The one value that the whole text stands for. Raises Unreadable."""
    try:
        return Reading(exact_json(text), exact=True)
    except json.JSONDecodeError:
        value, end = read_value(text, 0)
        if text[skip_space(text, end) :]:
            raise Unreadable(f"unexpected text after position {end}") from None
        return Reading(value, exact=False)


def exact_json(text: str) -> Any:
    """Strict JSON. Raises JSONDecodeError where it is none, Unreadable where it has no certain meaning."""
    try:
        value = json.loads(
            text,
            strict=False,
            parse_float=finite,
            parse_constant=_refuse_constant,
            object_pairs_hook=unique_pairs,
        )
    except (json.JSONDecodeError, Unreadable):
        raise
    except RecursionError:
        raise Unreadable(TOO_DEEP) from None
    except ValueError as fault:
        raise Unreadable(str(fault)) from None
    if too_deep(value):
        raise Unreadable(TOO_DEEP)
    return value


def finite(text: str) -> float:
    """A number with a fraction or an exponent. Raises Unreadable for one that no JSON can carry on."""
    value = float(text)
    if not math.isfinite(value):
        raise Unreadable(f"{text[:20]} is too large for a number")
    return value


def too_deep(value: Any) -> bool:
    """Whether `value` is nested deeper than MAX_DEPTH. Not recursive itself."""
    layer = [value]
    for _ in range(MAX_DEPTH):
        containers = [each.values() if isinstance(each, Mapping) else each for each in layer if _holds(each)]
        layer = [inner for container in containers for inner in container]
        if not layer:
            return False
    return any(map(_holds, layer))


def _holds(value: Any) -> bool:
    return isinstance(value, Mapping | list)


def unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of these pairs; the same key with two values has no certain meaning."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise Unreadable(f"{key!r} is given twice with different values")
        found[key] = value
    return found


def read_value(text: str, start: int) -> tuple[Any, int]:
    """The value that begins at `start`, and the position after it. Raises Unreadable."""
    return _Reader(text).value(start, 0)


def skip_space(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _refuse_constant(name: str) -> NoReturn:
    raise Unreadable(f"{name} is no JSON value")


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def value(self, position: int, depth: int) -> tuple[Any, int]:
        if depth > MAX_DEPTH:
            raise Unreadable(TOO_DEEP)
        position = skip_space(self._text, position)
        character = self._at(position)
        if character == "{":
            return self._object(position + 1, depth)
        if character == "[":
            return self._array(position + 1, depth)
        if character in _CLOSING:
            return self._string(position)
        return self._scalar(position)

    def _at(self, position: int) -> str:
        if position >= len(self._text):
            raise Unreadable(CUT_OFF)
        return self._text[position]

    def _object(self, position: int, depth: int) -> tuple[dict[str, Any], int]:
        pairs: list[tuple[str, Any]] = []
        while True:
            position = skip_space(self._text, position)
            if self._at(position) == "}":
                return unique_pairs(pairs), position + 1
            key, position = self._key(position)
            position = skip_space(self._text, position)
            if self._at(position) not in ":：":
                raise Unreadable(f"a colon is missing at position {position}")
            value, position = self.value(position + 1, depth + 1)
            pairs.append((key, value))
            position = self._separator(position, "}")

    def _array(self, position: int, depth: int) -> tuple[list[Any], int]:
        items: list[Any] = []
        while True:
            position = skip_space(self._text, position)
            if self._at(position) == "]":
                return items, position + 1
            item, position = self.value(position, depth + 1)
            items.append(item)
            position = self._separator(position, "]")

    def _separator(self, position: int, closing: str) -> int:
        """Past a comma; at the closing bracket itself, which the caller reads."""
        position = skip_space(self._text, position)
        character = self._at(position)
        if character in ",，":
            return position + 1
        if character == closing:
            return position
        raise Unreadable(f"a comma or {closing!r} is missing at position {position}")

    def _key(self, position: int) -> tuple[str, int]:
        if self._at(position) in _CLOSING:
            return self._string(position)
        if found := _WORD.match(self._text, position):
            return found.group(), found.end()
        raise Unreadable(f"a name in quotes is missing at position {position}")

    def _string(self, position: int) -> tuple[str, int]:
        closing = _CLOSING[self._text[position]]
        parts: list[str] = []
        position += 1
        while (character := self._at(position)) != closing:
            if character == "\\":
                character, position = self._escape(position + 1)
            else:
                position += 1
            parts.append(character)
        # Two escaped halves of one character come as two surrogates.
        joined = "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return joined, position + 1

    def _escape(self, position: int) -> tuple[str, int]:
        character = self._at(position)
        if character in _ESCAPES:
            return _ESCAPES[character], position + 1
        digits = {"u": 4, "x": 2}.get(character, 0)
        code = self._text[position + 1 : position + 1 + digits]
        if digits and len(code) == digits and all(digit in "0123456789abcdefABCDEF" for digit in code):
            return chr(int(code, 16)), position + 1 + digits
        raise Unreadable(f"unknown escape \\{character} at position {position - 1}")

    def _scalar(self, position: int) -> tuple[Any, int]:
        if found := _WORD.match(self._text, position):
            if found.group() in _WORDS:
                return _WORDS[found.group()], found.end()
            cut_off = found.end() == len(self._text)
            raise Unreadable(
                CUT_OFF if cut_off else f"{found.group()!r} is no JSON value; put text in quotes"
            )
        if found := _NUMBER.match(self._text, position):
            end = found.end()
            following = self._at(end)
            if following.isalnum() or following == ".":
                raise Unreadable(f"no number that JSON knows at position {position}")
            return exact_json(found.group()), end
        raise Unreadable(f"no value at position {position}")
