"""Results of read-only tools that a tool allows to be kept for a while (T11). In process, bounded."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from cachetools import LRUCache, TLRUCache

from tools.envelope import dump
from tools.keys import canonical
from tools.spec import JSON, Arguments, ToolSpec

_ENTRIES: Final = 2048
_LARGEST_ENTRY: Final = 262_144
"""Characters of JSON; a larger result is not kept."""
_USERS: Final = 10_000


@dataclass(frozen=True)
class _Entry:
    text: str
    seconds: float


@dataclass(frozen=True)
class Ticket:
    """Where a result that is about to be made belongs, and what the user had written until then."""

    key: tuple[str | None, str, str]
    user: str
    writes: int
    seconds: float


class ResultCache:
    """Keyed by user (unless the tool says that it is everyone's), tool and arguments."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._entries: TLRUCache[tuple[str | None, str, str], _Entry] = TLRUCache(
            maxsize=_ENTRIES, ttu=lambda _, entry, now: now + entry.seconds, timer=clock
        )
        self._writes: LRUCache[str, int] = LRUCache(maxsize=_USERS)

    def ticket(self, spec: ToolSpec, user: str, args: Arguments) -> Ticket | None:
        """A place for the call's result; None for a tool that is never cached, such as one that writes."""
        if spec.effect == "write" or spec.cache_seconds <= 0:
            return None
        owner = None if spec.cache_scope == "everyone" else user
        key = (owner, spec.name, canonical(args))
        return Ticket(key, user, self._writes.get(user, 0), spec.cache_seconds)

    def get(self, ticket: Ticket) -> str | None:
        """The kept result as JSON text; None where there is none, or it is too old."""
        entry = self._entries.get(ticket.key)
        return None if entry is None else entry.text

    def put(self, ticket: Ticket, data: JSON) -> None:
        """Keep a result, unless the user has written since the ticket was taken: then it may be stale."""
        if ticket.key[0] is not None and self._writes.get(ticket.user, 0) != ticket.writes:
            return
        text = dump(data)
        if len(text) <= _LARGEST_ENTRY:
            self._entries[ticket.key] = _Entry(text, ticket.seconds)

    def wrote(self, user: str) -> None:
        """A tool with side effects ran for the user: what was read before may no longer be so."""
        self._writes[user] = self._writes.get(user, 0) + 1
        for key in [key for key in self._entries if key[0] == user]:
            self._entries.pop(key, None)
