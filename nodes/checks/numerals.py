"""Whole numbers as people write them: digits, Chinese numerals, English number words."""

from __future__ import annotations

from tools.chinese_numerals import with_digits

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

CHINESE_NUMERAL = r"[一二两三四五六七八九十百千万零]{1,9}"
ENGLISH_NUMERAL = "|".join(sorted(_ENGLISH, key=len, reverse=True))
COUNT = rf"(?:\d{{1,4}}|{CHINESE_NUMERAL}|\b(?:{ENGLISH_NUMERAL})\b)"
"""Pattern of a number of things."""


def number(text: str) -> int:
    """The value of a text that `COUNT` matches.

    >>> number("15"), number("十五"), number("两百三十"), number("Seven")
    (15, 15, 230, 7)
    """
    if text.isdecimal():
        return int(text)
    english = _ENGLISH.get(text.lower())
    return int(with_digits(text)) if english is None else english
