"""Text made comparable, and cut into the pieces that facts are read from."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

V_co = TypeVar("V_co", covariant=True)

FLAGS = re.IGNORECASE | re.ASCII
"""For patterns: a Chinese character beside a number is no part of it."""

_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−﹣－~～〜", "-"))
_INVISIBLE = re.compile(r"[\u200b-\u200f\u2060\ufeff]")
_SENTENCE = re.compile(
    r"[。！？!?；;\n]+|(?<=[\w)\]\"'%])(?:\.(?=\s*$|\s+\D)"
    # "No. 12" and "Nov. 30" go on.
    r"|(?<!\bno)(?<!\bjan)(?<!\bfeb)(?<!\bmar)(?<!\bapr)(?<!\bjun)(?<!\bjul)(?<!\baug)(?<!\bsep)(?<!\bsept)(?<!\boct)"
    r"(?<!\bnov)(?<!\bdec)\.(?=\s+\d))",
    re.IGNORECASE,
)
_LONGEST = 1000
"""Characters of a sentence. What goes on without a stop is cut, so that no text takes long to read."""
_SPACES = re.compile(r"[^\S\n]+")
_EMPHASIS = re.compile(r"(?<![0-9*])\*{1,3}|\*{1,3}(?![0-9*])|`")
"""Of Markdown; stars between digits mask a number (138****8123)."""
_BLANK = "\x1f"


@dataclass(frozen=True)
class Mention(Generic[V_co]):
    """One fact as a text puts it, and where."""

    quote: str
    start: int
    value: V_co

    @property
    def end(self) -> int:
        return self.start + len(self.quote)


def fold(text: str) -> str:
    """One spelling for what a person reads as the same: full-width digits, dashes, invisible characters.

    >>> fold("ＡＢＣ－１２，￥３")
    'ABC-12, ¥3'
    """
    # A full-width comma is never part of a number, so it must not become one that is.
    plain = _EMPHASIS.sub("", _INVISIBLE.sub("", text)).replace("，", ", ").replace("、", ", ")
    return _SPACES.sub(" ", unicodedata.normalize("NFKC", plain).translate(_DASHES))


def compact(text: str) -> str:
    """An identifier without case, spaces and dashes."""
    return re.sub(r"[\s\-_/.]", "", fold(text)).casefold()


def sentences(text: str) -> list[str]:
    """Sentences and list lines of folded text, each with the mark that ends it."""
    pieces: list[str] = []
    start = 0
    for match in _SENTENCE.finditer(text):
        pieces.extend(_cut(text[start : match.end()]))
        start = match.end()
    pieces.extend(_cut(text[start:]))
    return [piece for piece in pieces if piece.strip()]


def _cut(sentence: str) -> Iterator[str]:
    while len(sentence) > _LONGEST:
        at = max(sentence.rfind(mark, 0, _LONGEST) for mark in (" ", ","))
        at = at if at > 0 else _LONGEST
        yield sentence[:at]
        sentence = sentence[at:]
    yield sentence


def blank(text: str, mentions: Iterable[Mention[object]]) -> str:
    """The text with what has been read taken out, every other character in its place."""
    for mention in mentions:
        text = text[: mention.start] + _BLANK * len(mention.quote) + text[mention.end :]
    return text
