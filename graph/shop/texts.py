"""The shop's texts, read once at import: prompts and examples are files of their own."""

from __future__ import annotations

from pathlib import Path

from nodes.business_texts import Texts

FOLDER = Path(__file__).parent

text = Texts(FOLDER / "texts").text
lines = Texts(FOLDER / "texts").lines
