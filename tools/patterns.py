r"""Regular expressions as JSON Schema means them (ECMA 262), on Python's `regex`.

Three differences matter for arguments: `\d` and `\w` are ASCII only, `$` does not match before a final
newline, and `\p{Letter}` exists. A time limit keeps a brought-along pattern from stopping the event loop.
"""

from __future__ import annotations

from functools import lru_cache

import regex

SECONDS = 0.25
"""A search that takes longer counts as no match."""

_OUTSIDE_CLASS = {"d": "[0-9]", "D": "[^0-9]", "w": "[A-Za-z0-9_]", "W": "[^A-Za-z0-9_]"}
_INSIDE_CLASS = {"d": "0-9", "w": "A-Za-z0-9_"}


def matches(pattern: str, text: str) -> bool:
    """Whether `pattern` is found anywhere in `text`. Raises `regex.error` for a broken pattern."""
    try:
        return compiled(pattern).search(text, timeout=SECONDS) is not None
    except TimeoutError:
        return False


@lru_cache(maxsize=2048)
def compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(_translate(pattern))


def _translate(pattern: str) -> str:
    out: list[str] = []
    in_class = False
    after_set = False
    characters = iter(pattern)
    for character in characters:
        if character == "\\":
            escaped = next(characters, "")
            known = _INSIDE_CLASS if in_class else _OUTSIDE_CLASS
            out.append(known.get(escaped, "\\" + escaped))
            after_set = in_class and escaped in known
            continue
        if character == "-" and after_set:
            # `[\w-.]` is no range in ECMA.
            character = r"\-"
        after_set = False
        if character == "$" and not in_class:
            out.append(r"\Z")
            continue
        if character == "[":
            # Literal inside a class in ECMA; `regex` warns that it may come to mean a nested set.
            out.append(r"\[" if in_class else "[")
            in_class = True
            continue
        if character == "]":
            in_class = False
        out.append(character)
    return "".join(out)
