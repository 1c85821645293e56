"""A connection to Postgres on which nothing is waited for without end.

A network that is cut says nothing, and the server's own time limit for statements needs a network to be told by. TCP's
limits help where a peer is gone, not where something in between (a proxy, a load balancer) still acknowledges what it
will never hand on.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

from psycopg import AsyncConnection, Error, OperationalError
from psycopg.abc import PQGen
from psycopg.pq.abc import PGconn
from psycopg.rows import Row

Result = TypeVar("Result")

CANCEL_SECONDS = 2.0
"""For asking the server to end a statement that nobody waits for any more; then the connection is closed."""


class BoundedConnection(AsyncConnection[Row]):
    """Closed, with an OperationalError, where the server does not answer in time."""

    answer_seconds: float | None = None
    """How long an answer may take, of one statement; None: as long as it likes."""
    unanswered = False
    """Whether it was closed because the server did not answer."""

    def __init__(self, pgconn: PGconn) -> None:
        super().__init__(pgconn)
        self.heard_at = time.monotonic()
        """When the server last answered, by the monotonic clock; first when it let this connection in."""

    async def wait(
        self,
        gen: PQGen[Result],
        interval: float = 0.1,
        timeout: float | None = None,  # noqa: ASYNC109 (the library's)
    ) -> Result:
        """What the server answers. With a `timeout` of its own, the caller learns by psycopg's error that it is up."""
        bound = self.answer_seconds if timeout is None else None
        started = time.monotonic()
        try:
            result = await super().wait(gen, interval, bound if timeout is None else timeout)
        except OperationalError as error:
            if bound is None or self.closed or time.monotonic() - started < bound:
                raise
            self.unanswered = True
            self.pgconn.finish()
            raise OperationalError(f"the server did not answer within {bound:.0f} s") from error
        self.heard_at = time.monotonic()
        return result

    async def cancel_safe(self, *, timeout: float = CANCEL_SECONDS) -> None:  # noqa: ASYNC109 (the library's)
        """Ask the server to end the statement; a server that cannot be asked is not waited for either."""
        try:
            await super().cancel_safe(timeout=min(timeout, CANCEL_SECONDS))
        except Error:
            self.unanswered = True
            self.pgconn.finish()
            raise

    @asynccontextmanager
    async def answering_within(self, seconds: float | None) -> AsyncIterator[None]:
        """Another bound for some statements."""
        before, self.answer_seconds = self.answer_seconds, seconds
        try:
            yield
        finally:
            self.answer_seconds = before
