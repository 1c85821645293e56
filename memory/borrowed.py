"""Whether a statement about a customer is really somebody else's: text of a tool's result, a document, a memory.

A true quotation proves that the customer said something, not that the statement says the same: a model that obeys
instructions out of an order's note quotes the customer and states the note. So a statement is refused where its words
stand in foreign text and not in the customer's own. Statements in other words than either are left to the extractor.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Final

from memory.evidence import plain
from memory.keywords import terms

MOSTLY: Final = 0.6
"""Share of a sentence's words that stand in foreign text, from which on it may be borrowed."""
MORE: Final = 0.3
"""By how much that share has to exceed the customer's."""
_SENTENCE: Final = re.compile(r"(?<=[。！？!?;；\n])|(?<=\.)(?=\s)")
_SAME_STEM: Final = 5
"""Letters that two words of one stem have in common (`deliver`, `delivery`)."""
_RUN, _CHINESE_RUN = 24, 10
"""Letters and digits on end, in any alphabet or in Chinese, that are no coincidence."""
_CHINESE: Final = re.compile(r"[\u3400-\u9fff]+")


def is_borrowed(statement: str, own: Sequence[str], foreign: Sequence[str]) -> bool:
    """Whether a sentence of the statement says what foreign text says, and the customer (`own`) did not."""
    if not foreign:
        return False
    said, elsewhere = _terms_of(own), _terms_of(foreign)
    return any(
        (share := _share(sentence, elsewhere)) >= MOSTLY and share >= _share(sentence, said) + MORE
        for sentence in sentences(statement)
    )


def without_copies(text: str, own: Sequence[str], foreign: Sequence[str]) -> str:
    """The text with `[…]` for each sentence that copies a passage of foreign text which the customer did not say."""
    copied = _runs(foreign) - _runs(own)
    if not copied:
        return text
    kept = ["[…]" if copied.intersection(_runs([part])) else part for part in sentences(text)]
    return re.sub(r"(?:\[…\]\s*){2,}", "[…] ", " ".join(part.strip() for part in kept)).strip()


def sentences(text: str) -> list[str]:
    """The sentences of a text, Chinese or any other."""
    return [part for part in _SENTENCE.split(text) if part.strip()]


def _terms_of(texts: Sequence[str]) -> set[str]:
    return {term for text in texts for term in terms(text)}


def _share(sentence: str, known: Collection[str]) -> float:
    """Of the words that say something; dates are left out, since they are worked out from the time of a message."""
    words = [term for term in terms(sentence) if not term.isdecimal() and term not in _frame()]
    return sum(_has(known, word) for word in words) / len(words) if words else 0.0


def _has(known: Collection[str], word: str) -> bool:
    if word in known:
        return True
    if not (word.isascii() and word.isalpha() and len(word) >= _SAME_STEM):
        return False
    return any(other.isalpha() and other[:_SAME_STEM] == word[:_SAME_STEM] for other in known)


def _runs(texts: Sequence[str]) -> set[str]:
    return {run for text in texts for run in _runs_of(plain(text))}


def _runs_of(text: str) -> Iterator[str]:
    yield from (text[start : start + _RUN] for start in range(len(text) - _RUN + 1))
    for match in _CHINESE.finditer(text):
        chinese = match[0]
        yield from (chinese[start : start + _CHINESE_RUN] for start in range(len(chinese) - _CHINESE_RUN + 1))


@cache
def _frame() -> frozenset[str]:
    """Words that any statement may be put in."""
    return frozenset(terms("user customer 用户 客户 顾客 wants would likes prefers asked 希望 想要 喜欢"))
