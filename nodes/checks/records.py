"""Tool results taken apart: records (the objects that carry an identifier) and the values they hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from nodes.checks.identifiers import find_identifiers
from nodes.checks.text import compact, fold

_DATE = re.compile(r"\d{4}-\d\d-\d\d(?!\d)")
_PERSON = ("user", "customer", "account", "phone", "mobile", "contact", "tel", "recipient", "email")


@dataclass(frozen=True)
class Leaf:
    """One value of a result, or a name in it that is itself a value (`{"2024-05-20": {…}}`)."""

    path: str
    """The names that lead to it, joined by dots; positions in lists left out."""
    value: str | int | float | bool
    parent: int
    """Identity of the object or list it stands in, for values that belong together."""

    @property
    def key(self) -> str:
        """The name it stands under."""
        return self.path.rpartition(".")[2]


@dataclass(frozen=True)
class Record:
    """An object with its identifiers and everything below it; none for what belongs to no object."""

    identifiers: frozenset[str]
    leaves: tuple[Leaf, ...]
    own: frozenset[str] = frozenset()
    """Identifiers that it holds itself, not one of its parts."""
    parts: tuple[Record, ...] = ()
    """Objects within it that hold an identifier of their own, on every level: the parcels of an order."""


def records(envelopes: Iterable[str]) -> list[Record]:
    """The records of tool results, in order. An error is a record without identifiers."""
    found: list[Record] = []
    for text in envelopes:
        envelope = _parsed(text)
        # The envelope's own fields say how the call went, not what the business holds.
        body = {k: v for k, v in envelope.items() if k in ("data", "omitted", "error_desc")}
        found.extend(_split("", body))
    return found


def clusters(found: list[Record]) -> list[tuple[frozenset[str], list[Record]]]:
    """Records that speak of the same thing, since they share an identifier (an order and its parcel)."""
    groups: list[tuple[set[str], list[Record]]] = []
    for record in found:
        if not record.identifiers:
            continue
        same = [group for group in groups if group[0] & record.identifiers]
        ids = set(record.identifiers).union(*(group[0] for group in same))
        merged = [r for group in same for r in group[1]]
        groups = [group for group in groups if group not in same]
        groups.append((ids, [*merged, record]))
    return [(frozenset(ids), members) for ids, members in groups]


def _parsed(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    return value if isinstance(value, dict) else {"data": value}


def _split(path: str, value: Any) -> Iterator[Record]:
    """The outermost objects that hold an identifier of their own; what is left over goes without."""
    if isinstance(value, dict) and _own(value):
        yield replace(_record(path, value), parts=tuple(_parts(path, value)))
    elif isinstance(value, dict):
        loose = [leaf for key, item in value.items() for leaf in _named(path, key, item, id(value))]
        yield Record(frozenset(), tuple(loose))
        for key, item in value.items():
            if isinstance(item, dict | list):
                yield from _split(_joined(path, key), item)
    elif isinstance(value, list):
        for item in value:
            yield from _split(path, item)
    elif isinstance(value, str | int | float):
        yield Record(frozenset(), (Leaf(path, value, 0),))


def _record(path: str, value: dict[str, Any]) -> Record:
    leaves = tuple(_leaves(path, value))
    return Record(_identifiers(leaves), leaves, _own(value))


def _parts(path: str, value: Any) -> Iterator[Record]:
    inner = value.items() if isinstance(value, dict) else (("", item) for item in value)
    for key, item in inner:
        if isinstance(item, dict) and _own(item):
            yield _record(_joined(path, key), item)
        if isinstance(item, dict | list):
            yield from _parts(_joined(path, key), item)


def _own(value: dict[str, Any]) -> frozenset[str]:
    """The identifiers among the plain values of an object."""
    held = (item for key, item in value.items() if _is_object_key(key) and isinstance(item, str))
    return frozenset(name for item in held if (name := _whole_identifier(item)))


def _is_object_key(key: str) -> bool:
    return not any(part in key.lower() for part in _PERSON)


def _whole_identifier(value: str) -> str | None:
    text = fold(value).strip()
    found = [] if _DATE.match(text) else find_identifiers(text)
    return compact(text) if len(found) == 1 and found[0].quote == text else None


def _identifiers(leaves: Iterable[Leaf]) -> frozenset[str]:
    values = (leaf.value for leaf in leaves if _is_object_key(leaf.key) and isinstance(leaf.value, str))
    return frozenset(name for value in values if (name := _whole_identifier(value)))


def _leaves(path: str, value: Any) -> Iterator[Leaf]:
    """All values below an object or list."""
    inner = value.items() if isinstance(value, dict) else (("", item) for item in value)
    for key, item in inner:
        yield from _named(path, key, item, id(value))
        if isinstance(item, dict | list):
            yield from _leaves(_joined(path, key), item)


def _named(path: str, key: str, value: Any, parent: int) -> Iterator[Leaf]:
    """The value under a name, if it is plain, and the name, if it can be a date or a number."""
    if any(character.isdigit() for character in key):
        yield Leaf(path, key, parent)
    if isinstance(value, str | int | float):
        yield Leaf(_joined(path, key), value, parent)


def _joined(path: str, key: str) -> str:
    return f"{path}.{key}" if path and key else path or key
