"""Paths into a JSON value: `order.items[].sku`, `items[3]`, `[].id`.

A step names a field, `[]` means every element of a list, `[3]` one of them. Lists are entered without `[]` too
(`items.sku` is `items[].sku`), since whoever writes a path thinks of fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tools.spec import JSON

_STEP: Final = re.compile(r"\[(\d*)\]|([^.\[\]]+)")
_EVERY: Final = ""

Step = str | int


def steps(path: str) -> tuple[Step, ...]:
    """The steps of a path; `[]` is the empty string."""
    return tuple(
        name if name else int(index) if index else _EVERY
        for index, name in ((match[1], match[2]) for match in _STEP.finditer(path))
    )


def join(path: str, field: str) -> str:
    """The path of a field below `path`."""
    return f"{path}.{field}" if path else field


def values(data: JSON, path: str) -> Iterator[JSON]:
    """Every value that the path leads to; nothing where it leads nowhere."""
    yield from _walk(data, steps(path))


def _walk(data: JSON, rest: Sequence[Step]) -> Iterator[JSON]:
    if not rest:
        yield data
    elif isinstance(data, list):
        yield from _walk_list(data, rest)
    elif isinstance(data, dict):
        name = str(rest[0])
        if name in data:
            yield from _walk(data[name], rest[1:])
        elif (dotted := ".".join(str(step) for step in rest)) in data:
            yield data[dotted]


def _walk_list(data: list[JSON], rest: Sequence[Step]) -> Iterator[JSON]:
    step = rest[0]
    if isinstance(step, int) or step.isdigit():
        if int(step) < len(data):
            yield from _walk(data[int(step)], rest[1:])
        return
    below = rest[1:] if step == _EVERY else rest
    for item in data:
        yield from _walk(item, below)


def scalars(data: JSON, paths: Iterable[str]) -> list[str]:
    """The distinct scalars that the paths lead to, as text, in order; lists at their end are opened."""
    found: dict[str, None] = {}
    for path in paths:
        for value in values(data, path):
            for leaf in value if isinstance(value, list) else [value]:
                if isinstance(leaf, str | int | float) and not isinstance(leaf, bool) and str(leaf).strip():
                    found[str(leaf)] = None
    return list(found)


def pick(data: JSON, paths: Iterable[str]) -> tuple[JSON, list[str]]:
    """What the paths name, in the shape of the original, and the paths of the fields left out."""
    tree: dict[str, _Tree] = {}
    for path in paths:
        node = tree
        names = [str(step) for step in steps(path) if step != _EVERY]
        for name in names:
            node = node.setdefault(name, {})
        node[_EVERY] = {}
    left_out: dict[str, None] = {}
    return _pick(data, tree, "", left_out), list(left_out)


_Tree = dict[str, "_Tree"]
"""Wanted fields by name; the empty name says that everything below is wanted."""


def _pick(data: JSON, tree: _Tree, path: str, left_out: dict[str, None]) -> JSON:
    if _EVERY in tree:
        return data
    if isinstance(data, list):
        return [_pick(item, tree, f"{path}[]", left_out) for item in data]
    if not isinstance(data, dict):
        return data
    picked: dict[str, JSON] = {}
    for name, value in data.items():
        if name in tree:
            picked[name] = _pick(value, tree[name], join(path, name), left_out)
        else:
            left_out[join(path, name)] = None
    return picked
