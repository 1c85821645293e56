"""The word lists of `vocabulary.toml`, read once."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib import resources


@lru_cache(maxsize=1)
def _file() -> dict[str, str]:
    text = resources.files("memory").joinpath("vocabulary.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def word_list(name: str) -> frozenset[str]:
    """The words of one list."""
    return frozenset(_file()[name].split())
