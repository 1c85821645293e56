"""SQL that is too long to stand beside its caller, read when the module is imported."""

from __future__ import annotations

from importlib import resources
from typing import LiteralString


def read_sql(name: str) -> LiteralString:
    """The text of `memory/sql/NAME`; part of the code, hence as trusted as a literal."""
    return resources.files("memory").joinpath("sql", name).read_text(encoding="utf-8")
