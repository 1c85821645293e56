"""Prompts are text files of their own, beside this module in `prompts/`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from memory.errors import ConfigurationError

_FOLDER = Path(__file__).parent / "prompts"


@cache
def load_prompt(name: str) -> str:
    """The prompt `prompts/NAME.txt`, read once. Placeholders are filled with `str.format`."""
    try:
        return (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        known = ", ".join(sorted(path.stem for path in _FOLDER.glob("*.txt")))
        raise ConfigurationError(f"There is no prompt {name!r}; known: {known}.") from None


def all_prompts() -> dict[str, str]:
    """Every prompt by name."""
    return {path.stem: load_prompt(path.stem) for path in sorted(_FOLDER.glob("*.txt"))}
