"""The shop's texts, read once at import: prompts and examples are files of their own."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
TEXTS = FOLDER / "texts"


def text(name: str) -> str:
    """The file of that name under `texts/`, without surrounding white space."""
    return (TEXTS / name).read_text(encoding="utf-8").strip()


def lines(name: str) -> tuple[str, ...]:
    """The lines of that file that are not blank."""
    return tuple(line.strip() for line in text(name).splitlines() if line.strip())
