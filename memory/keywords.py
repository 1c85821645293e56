"""Search terms of a text, Chinese and English alike, for the keyword leg of recall.

Postgres makes one token of a Chinese sentence and tears order numbers apart, so the terms are made here and
stored with `array_to_tsvector`. Chinese becomes character bigrams plus the longer words that jieba knows:
bigrams never miss, words lift what was really meant. English is stemmed lightly. An order number stays whole,
whatever its spelling.
"""

from __future__ import annotations

import re
import unicodedata
from types import ModuleType

from memory.word_lists import word_list

LONGEST_TERM = 64
"""Characters; longer runs are not words that anybody asks for."""

_CHINESE = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_OTHER = r"[^\W_\u3400-\u9fff\uf900-\ufaff]+"
_TOKEN = re.compile(rf"{_CHINESE.pattern}+|{_OTHER}(?:['’\-]{_OTHER})*")
_STOP_WORDS = word_list("stop_words")
_SUFFIXES = ("ingly", "edly", "ing", "ies", "ied", "ed", "es", "ly", "s")


def segmenter() -> ModuleType:
    """The package that cuts Chinese into words. It reads its dictionary when it is imported, which takes longer than
    all else that is needed to open an agent."""
    import rjieba

    return rjieba


def terms(text: str) -> list[str]:
    """The distinct search terms of a text, in order of first appearance.

    >>> terms("订单 ABC-20240520-001 的配送")
    ['订单', 'abc20240520001', 'abc', '20240520', '1', '的配', '配送']
    """
    found: dict[str, None] = {}
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text).lower()):
        token = match[0]
        for term in _chinese(token) if _CHINESE.match(token) else _alphabetic(token):
            if len(term) <= LONGEST_TERM and not is_stop_word(term):
                found[term] = None
    return list(found)


def tsquery(term: str) -> str:
    """One term as the text of a `tsquery`."""
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"


def is_stop_word(word: str) -> bool:
    """Whether a word says nothing of what is asked."""
    return word in _STOP_WORDS


def _chinese(run: str) -> list[str]:
    bigrams = [run[i : i + 2] for i in range(len(run) - 1)] or [run]
    return bigrams + [word for word in segmenter().cut(run) if len(word) > 2]


def _alphabetic(token: str) -> list[str]:
    token = token.replace("’", "'").removesuffix("'s").replace("'", "")
    parts = token.split("-")
    if len(parts) == 1:
        return [stem(token)]
    if any(character.isdigit() for character in token):  # an identifier: whole, and by its parts
        return ["".join(parts), *(part.lstrip("0") or "0" for part in parts)]
    return [stem(part) for part in parts if part]


def stem(word: str) -> str:
    """A light English stemmer: enough that `deliveries` finds `delivery` and `allergic` stays what it is."""
    if not word.isascii() or not word.isalpha():
        return word
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            stem = word[: -len(suffix)]
            if suffix in ("ies", "ied"):
                return stem + "y"
            if suffix in ("ing", "ed") and len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "ls":
                stem = stem[:-1]
            return stem.rstrip("e") if len(stem) > 3 else stem
    return word.rstrip("e") if len(word) > 4 else word
