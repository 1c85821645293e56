"""The demo model's sentences, by key and language."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from graph.shop.texts import text

Language = Literal["zh", "en"]

_PHRASES: Mapping[str, Mapping[str, Any]] = {
    language: tomllib.loads(text(f"offline/{language}.toml")) for language in ("zh", "en")
}


def say(language: Language, key: str, **values: object) -> str:
    """The sentence of that key, filled in.

    >>> say("en", "ask_order")
    'Could you tell me the order number?'
    """
    sentence: str = _PHRASES[language][key]
    return sentence.format(**values)


def word(language: Language, group: str, code: object) -> str:
    """A state's name in the customer's language; the code itself where it has none."""
    words: Mapping[str, str] = _PHRASES[language][group]
    return words.get(str(code), str(code))


def listed(language: Language, items: Sequence[str]) -> str:
    """Items in one sentence."""
    return say(language, "joint").join(items)


def moment(value: object) -> str:
    """An ISO time as people read it: date and minutes, in the zone it carries.

    >>> moment("2024-05-22T08:15+08:00")
    '2024-05-22 08:15'
    """
    return str(value or "").replace("T", " ")[:16]
