"""What a turn asks of Postgres: round trips, statements and checkpoints, counted in psycopg itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from psycopg import AsyncConnection, AsyncCursor

_SPACE = re.compile(r"\s+")


@dataclass
class Traffic:
    """What went to the server while it was counted."""

    round_trips: int = 0
    """Times that the process waited for an answer of the server."""
    statements: Counter[str] = field(default_factory=Counter)
    """By the beginning of their text."""

    def count(self, query: Any, times: int = 1) -> None:
        text = query if isinstance(query, str) else query.decode() if isinstance(query, bytes) else str(query)
        self.statements[_name(text)] += times


def _name(text: str) -> str:
    """The first words of a statement, comments left out."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    words = _SPACE.sub(" ", " ".join(lines)).strip()
    if words.startswith("WITH mine"):
        return "recall"
    return words[:60] or "(empty statement)"


@contextmanager
def counted() -> Iterator[Traffic]:
    """Count everything that psycopg's asynchronous connections of this process send."""
    traffic = Traffic()
    wait, execute, executemany = AsyncConnection.wait, AsyncCursor.execute, AsyncCursor.executemany

    async def counting_wait(self: Any, generator: Any, *args: Any, **kwargs: Any) -> Any:
        traffic.round_trips += 1
        return await wait(self, generator, *args, **kwargs)

    async def counting_execute(self: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
        traffic.count(query)
        return await execute(self, query, *args, **kwargs)

    async def counting_executemany(self: Any, query: Any, params: Any, **kwargs: Any) -> Any:
        params = list(params)
        traffic.count(query, len(params))
        return await executemany(self, query, params, **kwargs)

    AsyncConnection.wait = counting_wait  # type: ignore[method-assign]
    AsyncCursor.execute = counting_execute  # type: ignore[method-assign, assignment]
    AsyncCursor.executemany = counting_executemany  # type: ignore[method-assign, assignment]
    try:
        yield traffic
    finally:
        AsyncConnection.wait = wait  # type: ignore[method-assign]
        AsyncCursor.execute = execute  # type: ignore[method-assign]
        AsyncCursor.executemany = executemany  # type: ignore[method-assign]
