"""A small model's digest of a large result is taken only when it invents nothing and loses nothing (T10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tools.envelope import dump
from tools.essentials import essentials, facts_in
from tools.spec import JSON


def fault_of(digest: JSON, source: JSON, identifiers: Sequence[str] = ()) -> str | None:
    """Why a digest cannot be taken; None where it can.

    Every number, date and code in it has to stand in the source (or count what is there), and so has every single
    word, which is how states are written. A record that the digest names keeps its identifiers, amounts, dates and
    states. Where the source holds identifiers of the user's own objects, the digest names at least one.
    """
    if not digest:
        return "it is empty"
    known = _Content(source)
    for leaf in _leaves(digest):
        if invented := known.missing(leaf):
            return f"{invented!r} does not stem from the result"
    kept = _Content(digest)
    if identifiers and not any(kept.has(value) for value in identifiers):
        return "it names none of the identifiers"
    for record in _named_records(source, kept):
        for kind, value in essentials(record):
            if not isinstance(value, bool) and not kept.has(value):
                return f"the {kind} {value!r} of a record that it keeps is lost"
    return None


class _Content:
    """What a JSON value says: its words as one text, its numbers, its facts."""

    def __init__(self, value: JSON) -> None:
        self._text = dump(value).casefold()
        leaves = [leaf for leaf in _leaves(value) if not isinstance(leaf, bool)]
        texts = [leaf for leaf in leaves if isinstance(leaf, str)]
        self._facts = {fact.casefold() for text in texts for fact in facts_in(text)}
        self._numbers = {float(leaf) for leaf in leaves if isinstance(leaf, int | float)}
        self._numbers |= {number for fact in self._facts if (number := _number(fact)) is not None}
        self._counts = {len(group) for group in _lists(value)}

    def has(self, value: JSON) -> bool:
        """Whether the value is said, in whatever spelling of a number."""
        if isinstance(value, int | float):
            return float(value) in self._numbers
        if isinstance(value, str):
            number = _number(value)
            return value.casefold() in self._text or (number is not None and number in self._numbers)
        return False

    def missing(self, leaf: JSON) -> JSON:
        """What a leaf says that is not said here; None where all of it is."""
        if leaf is None or isinstance(leaf, bool | dict | list):
            return None
        if isinstance(leaf, int | float):
            return None if self.has(leaf) or leaf in self._counts else leaf
        if leaf.isascii() and " " not in leaf and leaf and not self.has(leaf):
            return leaf
        for fact in facts_in(leaf):
            if not self.has(fact) and _number(fact) not in self._counts:
                return fact
        return None


def _named_records(source: JSON, kept: _Content) -> Iterator[dict[str, JSON]]:
    """Records of the source that have an identifier of their own which the digest names."""
    records = [(record, _identifiers(record)) for record in _records(source)]
    owners = Counter(value for _, values in records for value in values)
    for record, values in records:
        if any(owners[value] == 1 and kept.has(value) for value in values):
            yield record


def _identifiers(record: dict[str, JSON]) -> set[str]:
    return {str(value) for kind, value in essentials(record) if kind == "identifier"}


def _records(value: JSON) -> Iterator[dict[str, JSON]]:
    """Elements of lists, and the value itself; a record nested in another belongs to it."""
    if isinstance(value, dict):
        yield value
        for item in value.values():
            if isinstance(item, list):
                yield from _records(item)
            elif isinstance(item, dict):
                yield from (record for record in _records(item) if record is not item)
    elif isinstance(value, list):
        for item in value:
            yield from _records(item)


def _lists(value: JSON) -> Iterator[list[JSON]]:
    if isinstance(value, list):
        yield value
    for item in _children(value):
        yield from _lists(item)


def _leaves(value: JSON) -> Iterator[JSON]:
    if isinstance(value, dict | list):
        for item in _children(value):
            yield from _leaves(item)
    else:
        yield value


def _children(value: JSON) -> list[JSON]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
