"""Whole numbers as people write them: digits, Chinese numerals, English number words."""

from __future__ import annotations

_CHINESE = {"零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_CHINESE_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
_UP_TO_TWENTY = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
    "twenty",
)
_ENGLISH = {word: number for number, word in enumerate(_UP_TO_TWENTY, start=1)} | {
    "a": 1,
    "an": 1,
    "thirty": 30,
    "forty": 40,
    "sixty": 60,
    "ninety": 90,
}

CHINESE_NUMERAL = r"[一二两三四五六七八九十百千万零]+"
ENGLISH_NUMERAL = "|".join(sorted(_ENGLISH, key=len, reverse=True))
COUNT = rf"(?:\d+|{CHINESE_NUMERAL}|\b(?:{ENGLISH_NUMERAL})\b)"
"""Pattern of a number of things."""


def number(text: str) -> int:
    """The value of a text that `COUNT` matches.

    >>> number("15"), number("十五"), number("两百三十"), number("Seven")
    (15, 15, 230, 7)
    """
    if text.isdecimal():
        return int(text)
    english = _ENGLISH.get(text.lower())
    return _chinese(text) if english is None else english


def _chinese(text: str) -> int:
    total, digit = 0, 0
    for character in text:
        unit = _CHINESE_UNITS.get(character)
        if unit is None:
            digit = _CHINESE[character]
        elif unit == 10_000:
            total, digit = (total + digit) * unit, 0
        else:
            total, digit = total + (digit or 1) * unit, 0
    return total + digit
