"""Prompts are text files of their own, beside this module in `prompts/`."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from memory.errors import ConfigurationError

_PLACE = re.compile(r"\{(\w+)\}")
_FOLDER = Path(__file__).parent / "prompts"


@cache
def load_prompt(name: str) -> str:
    """The prompt `prompts/NAME.txt`, read once. Its places are filled with `fill`."""
    try:
        return (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        known = ", ".join(sorted(path.stem for path in _FOLDER.glob("*.txt")))
        raise ConfigurationError(f"There is no prompt {name!r}; known: {known}.") from None


def fill(text: str, **values: object) -> str:
    """The text with each `{name}` that is among the values filled in; every other brace stands as it is, so that a
    text with JSON in it, or one that somebody has just edited, needs no escaping."""
    return _PLACE.sub(lambda place: str(values.get(place[1], place[0])), text)


def all_prompts() -> dict[str, str]:
    """Every prompt by name."""
    return {path.stem: load_prompt(path.stem) for path in sorted(_FOLDER.glob("*.txt"))}
