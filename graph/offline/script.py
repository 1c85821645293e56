"""What a business teaches the demo model: its customers' words and its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from graph.offline.view import ChatView


@dataclass(frozen=True)
class Call:
    """A tool that the demo model wants to call."""

    name: str
    args: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """Either calls, or the answer's text."""

    text: str = ""
    calls: Sequence[Call] = ()


class Script(Protocol):
    """The business's side of the demo model; pure functions of the words."""

    def route(self, text: str, previous: str) -> list[tuple[str, float]]:
        """Intents of a message with their confidence, likeliest first; `previous` is the message before it."""
        ...

    def reply(self, view: ChatView) -> Reply:
        """What the chat role does next."""
        ...

    def memories(self, text: str) -> list[dict[str, Any]]:
        """What is worth remembering of a customer's message, as the extractor answers it."""
        ...
