"""Documents cut into passages that can be found and understood alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import NAMESPACE_URL, UUID, uuid5

HEADING = re.compile(r"^(#{1,4})\s+(.+?)\s*$", re.MULTILINE)
LONGEST_PASSAGE = 1_200
"""Characters; a longer section is cut between paragraphs."""


@dataclass(frozen=True)
class Document:
    """One document of the business, in Markdown. `source` names it, such as `returns.zh.md`."""

    source: str
    text: str


@dataclass(frozen=True)
class Chunk:
    """A passage on its way into the store."""

    source: str
    title: str
    """The document's heading and the section's."""
    text: str

    @property
    def id(self) -> UUID:
        """Made of the content, so that the same passage is never stored twice."""
        return uuid5(NAMESPACE_URL, f"{self.source}\n{self.title}\n{self.text}")


def chunks(document: Document) -> Iterator[Chunk]:
    """The document's sections, each with the path of headings that leads to it."""
    path: list[str] = []
    for level, heading, body in _sections(document.text):
        path = [*path[: max(level - 1, 0)], heading] if heading else path
        title = " – ".join(part for part in path if part)
        for text in _pieces(body):
            yield Chunk(document.source, title, text)


def _sections(text: str) -> Iterator[tuple[int, str, str]]:
    """(level, heading, text below it) in order; level 0 is what stands before the first heading."""
    headings = list(HEADING.finditer(text))
    yield 0, "", text[: headings[0].start()] if headings else text
    for index, match in enumerate(headings):
        end = headings[index + 1].start() if index + 1 < len(headings) else len(text)
        yield len(match[1]), match[2], text[match.end() : end]


def _pieces(body: str) -> Iterator[str]:
    """A section's text, in pieces of bounded length."""
    piece = ""
    for paragraph in re.split(r"\n\s*\n", body.strip()):
        for part in _bounded(paragraph.strip()):
            if piece and len(piece) + len(part) > LONGEST_PASSAGE:
                yield piece
                piece = ""
            piece = f"{piece}\n\n{part}" if piece else part
    if piece:
        yield piece


def _bounded(paragraph: str) -> Iterator[str]:
    for start in range(0, len(paragraph), LONGEST_PASSAGE):
        yield paragraph[start : start + LONGEST_PASSAGE]
