"""Whether a value stands in a text, in any spelling that a person would take for the same.

A text is cut into units: a run of letters and digits with what joins it (`ABC-20240520-001`, `a@b.com`) is one,
each Chinese character is one. A value stands in a text where units side by side spell it, case, width, spaces,
dashes and punctuation aside. So `ABC 20240520 001` is ABC-20240520-001, and 12 does not stand in `123`, nor in
`ABC-12`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache

from tools.chinese_numerals import with_digits

_ALNUM = r"[^\W\u3040-\u30ff\u4e00-\u9fff_]"
_CHARACTER = r"[\u3040-\u30ff\u4e00-\u9fff]"
_JOINER = r"(?:[-_@+‐‑–—]+|(?<=\d)\.(?=\d))"
_UNIT = re.compile(rf"{_ALNUM}+(?:{_JOINER}{_ALNUM}+)*|{_CHARACTER}")
_WORD = re.compile(rf"{_ALNUM}+|{_CHARACTER}+")
_SILENT = re.compile(r"[\W_]+")
# Not a part of a number, date or order number; a currency's letters may stand before it.
_NUMBER = re.compile(
    r"(?:(?<![a-z0-9./_-])|(?<=rmb)|(?<=cny)|(?<=usd)|(?<=eur))"
    r"(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?![0-9]|[-/.][0-9])"
)
_SCALE = {"万": 10_000, "w": 10_000, "k": 1_000, "千": 1_000, "亿": 100_000_000}
_COUNTRY_CODE = re.compile(r"(?<!\d)(?:\+|00)86[\s-]*(?=1\d{2})")
"""Before a Chinese mobile number, where people leave it out as they like."""


def same_spelling(left: str, right: str) -> bool:
    """Whether two values are the same as a whole."""
    return bool(spelling(left)) and spelling(left) == spelling(right)


def stands_in(value: str, text: str) -> bool:
    """Whether units side by side in `text` spell `value`."""
    wanted = {spelling(value), spelling(_COUNTRY_CODE.sub(" ", folded(value)))} - {""}
    return any(_spelt(each, units) for units in _readings(text) for each in wanted)


def words_stand_in(value: str, text: str) -> bool:
    """Whether `text` has each word of a longer value (an address), in whatever order and punctuation."""
    words = _WORD.findall(folded(value))
    return len(words) > 1 and all(_spelt(word, units_of(text)) for word in words)


@lru_cache(maxsize=256)
def numbers_in(text: str) -> frozenset[Decimal]:
    """All numbers of a text: 1,299.00, 300元, 三百, 3万."""
    plain = folded(text)
    found: set[Decimal] = set()
    for reading in {plain, with_digits(plain)}:
        for match in _NUMBER.finditer(reading):
            number = Decimal(match.group().replace(",", ""))
            found.add(number * _SCALE.get(reading[match.end() : match.end() + 1], 1))
    return frozenset(found)


def folded(text: str) -> str:
    """Case and full-width forms aside."""
    return unicodedata.normalize("NFKC", text).casefold()


def spelling(text: str) -> str:
    """Letters and digits only."""
    return _SILENT.sub("", folded(text))


@lru_cache(maxsize=256)
def units_of(text: str) -> tuple[str, ...]:
    return tuple(_SILENT.sub("", unit) for unit in _UNIT.findall(folded(text)))


def _readings(text: str) -> Iterator[tuple[str, ...]]:
    plain = folded(text)
    for reading in dict.fromkeys([plain, with_digits(plain), _COUNTRY_CODE.sub(" ", plain)]):
        yield units_of(reading)


def _spelt(wanted: str, units: tuple[str, ...]) -> bool:
    for start, unit in enumerate(units):
        if not wanted.startswith(unit):
            continue
        spelt = ""
        for following in units[start:]:
            spelt += following
            if spelt == wanted:
                return True
            if not wanted.startswith(spelt):
                break
    return False
