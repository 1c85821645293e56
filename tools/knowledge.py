"""What a tool may search for passages of documents; whoever holds the documents implements it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Passage(Protocol):
    """A piece of a document, with where it stands."""

    @property
    def source(self) -> str:
        """The document, as it is cited: its file name."""
        ...

    @property
    def title(self) -> str:
        """Its heading, in its own language."""
        ...

    @property
    def text(self) -> str: ...


class Knowledge(Protocol):
    """Finds the passages that answer a question, best first; none where nothing fits."""

    async def search(self, query: str, k: int) -> Sequence[Passage]: ...
