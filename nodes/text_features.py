"""What the local classifier sees of a text beside its embedding: identifiers set aside, and the pieces of its words."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

PLACEHOLDER = "#"
"""Stands for an identifier: an order number fills half a short message and says nothing about the wish."""
_IDENTIFIER = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # an e-mail address
    r"|(?<![A-Za-z])[A-Za-z]{1,4}[-_ ]?\d[\d-]{4,}(?:-\w+)*"  # an order, tracking or ticket number
    r"|\+?\d[\d\s-]{4,}\d"  # a telephone number
    r"|#?\d{3,}"
)
_WORD = re.compile(r"[a-z']+|#")
_CHINESE = re.compile(r"[\u3400-\u9fff]+")
_PIECE = 4
"""Letters of a piece of a word; such pieces still match where the word is misspelt or has another ending."""


def without_identifiers(text: str) -> str:
    """The text in its usual form, each identifier and longer number replaced by the placeholder.

    >>> without_identifiers("订单 GHI-20240512-003 的杯子碎了")
    '订单 # 的杯子碎了'
    """
    text = unicodedata.normalize("NFKC", text)
    return " ".join(_IDENTIFIER.sub(f" {PLACEHOLDER} ", text).split())


def says_something(text: str) -> bool:
    """Whether letters remain in a text whose identifiers are set aside."""
    return any(letter.isalpha() for letter in text)


def grams(text: str) -> set[str]:
    """Words, pairs of words and pieces of words; of Chinese, single characters and pairs."""
    text = text.lower()
    words = _WORD.findall(text)
    found = {f"w:{word}" for word in words}
    found.update(f"p:{first} {second}" for first, second in pairwise(words))
    for word in words:
        padded = f"<{word}>"
        found.update(f"c:{padded[i : i + _PIECE]}" for i in range(len(padded) - _PIECE + 1))
    for run in _CHINESE.findall(text):
        found.update(f"z:{character}" for character in run)
        found.update(f"z:{run[i : i + 2]}" for i in range(len(run) - 1))
    return found
