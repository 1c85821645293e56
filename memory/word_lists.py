"""The word lists of `vocabulary.toml`, read once."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib import resources


@lru_cache(maxsize=1)
def _file() -> dict[str, str | dict[str, str]]:
    text = resources.files("memory").joinpath("vocabulary.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def word_list(name: str) -> frozenset[str]:
    """The words of one list."""
    text = _file()[name]
    assert isinstance(text, str), name
    return frozenset(text.split())


def word_groups(name: str) -> dict[str, str]:
    """The leading word of each group, by every other word of it."""
    groups = _file()[name]
    assert isinstance(groups, dict), name
    return {word: leading for leading, words in groups.items() for word in words.split()}
