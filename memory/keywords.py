"""Search terms of a text, Chinese and English alike, for the keyword leg of recall.

Postgres makes one token of a Chinese sentence and tears order numbers apart, so the terms are made here and
stored with `array_to_tsvector`. Chinese becomes character bigrams plus the longer words that jieba knows:
bigrams never miss, words lift what was really meant. English is stemmed. An order number stays whole,
whatever its spelling.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from types import ModuleType

import Stemmer

from memory.word_lists import word_groups, word_list

LONGEST_TERM = 64
"""Characters; longer runs are not words that anybody asks for."""

_CHINESE = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_CHINESE_RUN = re.compile(rf"{_CHINESE.pattern}+")
_OTHER = r"[^\W_\u3400-\u9fff\uf900-\ufaff]+"
_TOKEN = re.compile(rf"{_CHINESE.pattern}+|{_OTHER}(?:['’\-]{_OTHER})*")
_STOP_WORDS = word_list("stop_words")
_FRAME_WORDS = word_list("frame_words")
_IRREGULAR_FORMS = word_groups("irregular_forms")


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


def telling(text: str, found: Sequence[str]) -> list[bool]:
    """Which of a text's terms tell what it is about: words, and not pieces of two words that happen to be neighbours.

    >>> telling("我的猫吃什么猫粮", ["的猫", "猫吃", "猫粮"])
    [False, False, True]
    """
    words = {
        word
        for match in _CHINESE_RUN.finditer(unicodedata.normalize("NFKC", text).lower())
        for word in segmenter().cut(match[0])
    }
    return [not _CHINESE.match(term) or (term in words and term not in _FRAME_WORDS) for term in found]


def has_chinese(text: str) -> bool:
    """Whether a text is Chinese, at least in part."""
    return _CHINESE.search(text) is not None


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
    if is_stop_word(token):
        return []
    if len(parts) == 1:
        return [stem(token)]
    if any(character.isdigit() for character in token):  # an identifier: whole, and by its parts
        return ["".join(parts), *(part.lstrip("0") or "0" for part in parts)]
    return [stem(part) for part in parts if part]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """What the forms of an English word share: `deliveries` and `delivery`, `bought` and `buy`.

    Other words stay as they are.
    """
    if not word.isascii() or not word.isalpha():
        return word
    stemmer = Stemmer.Stemmer("english")  # keeps the word it works on, so no two threads may share one
    return str(stemmer.stemWord(_IRREGULAR_FORMS.get(word, word)))
