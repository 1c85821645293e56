"""What a business declares so that its conversations can be tried: cases, and views of its own tables."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory.database import Database

View = Callable[["Database", str, Mapping[str, Any]], Awaitable[Any]]
"""Given database, user and what the case asks for: what the business's tables say, as JSON-native values; None where
there is nothing."""


@dataclass(frozen=True)
class Evaluation:
    """The business's side of `steward eval`."""

    cases: Path
    """A file of cases, or a folder of such files (docs/eval.md)."""
    views: Mapping[str, View] = field(default_factory=dict)
    """What a case may look at when its conversation is over, by name."""
    demo_lacks: Mapping[str, str] = field(default_factory=dict)
    """Capabilities, which a case may need, that the offline demo model has not: each with a sentence that says so."""
