"""Names of tools: what the protocol allows, and which tool a written name means.

The protocol takes letters, digits, `_` and `-`, at most 64. Models decorate what they were given
(`functions.order_query`, `order_query" />`); such a name is taken for a tool only where exactly one fits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from hashlib import sha256

MAX_LENGTH = 64

_ALLOWED = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_OTHER = re.compile(r"[^A-Za-z0-9_-]+", re.ASCII)
_WORD = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def is_protocol_name(name: str) -> bool:
    return _ALLOWED.fullmatch(name) is not None


def protocol_name(name: str) -> str:
    """`name` as the protocol allows it: unchanged where it is allowed, else close to it."""
    if is_protocol_name(name):
        return name
    safe = _OTHER.sub("_", name).strip("_")
    lost_letters = any(character.isalnum() and not character.isascii() for character in name)
    if not safe or lost_letters or len(safe) > MAX_LENGTH:
        return _marked(safe or "tool", name)
    return safe


def protocol_names(names: Iterable[str]) -> dict[str, str]:
    """Protocol names by name, no two alike, whatever the order of `names`."""
    every = sorted(set(names))
    wanted = {name: protocol_name(name) for name in every}
    claims = Counter(wanted.values())
    return {
        name: safe if safe == name or claims[safe] == 1 else _marked(safe, name)
        for name, safe in wanted.items()
    }


def _marked(safe: str, name: str) -> str:
    """A name of its own: a few digits of the whole name's hash at the end."""
    mark = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{safe[: MAX_LENGTH - 9]}_{mark}"


def nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Known names that look like `name`, best first."""
    by_spelling: dict[str, str] = {}
    for each in known:
        by_spelling.setdefault(_spelling(each), each)
    close = get_close_matches(_spelling(name), by_spelling, n=most, cutoff=0.6)
    return [by_spelling[each] for each in close]


def meant(written: str, offered: Mapping[str, str]) -> str | None:
    """Which of the offered tools `written` means, or None where none or more than one fits.

    `offered` maps each tool's own name to its protocol name; the answer is an own name.
    """
    for own, protocol in offered.items():
        if written in (own, protocol):
            return own
    fits = {own for own, protocol in offered.items() if _fits(written, own, protocol)}
    return fits.pop() if len(fits) == 1 else None


def _fits(written: str, own: str, protocol: str) -> bool:
    words = _words(written)
    for name in {own, protocol}:
        parts = _words(name)
        if not parts:
            continue
        starts = range(len(words) - len(parts) + 1)
        if any(words[start : start + len(parts)] == parts for start in starts):
            return True
        if len(words) == 1 and (words[0] == parts[-1] or _repeats(words[0], "".join(parts))):
            return True
    return False


def _repeats(word: str, name: str) -> bool:
    """`ff` for `f`: a server that streams parallel calls under one index glues their names."""
    count, rest = divmod(len(word), len(name))
    return rest == 0 and count > 1 and word == name * count


def _words(name: str) -> list[str]:
    return [_spelling(word) for word in _WORD.findall(name)]


def _spelling(name: str) -> str:
    """Case, dashes and underscores do not tell tools apart."""
    return re.sub(r"[\s_-]", "", name).casefold()
