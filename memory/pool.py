"""psycopg's connection pool, as a service needs it whose server is restarted and whose calls are cancelled.

What the library does otherwise: a client that is handed a dropped connection pauses for 1, 2, 4 … seconds before each
next one, so that after a restart a pool of five idle connections serves nobody for its whole time limit; an attempt to
connect that failed is repeated at ever longer intervals, however long the server has been back; a connection whose
network is cut is handed out again and again; and under Python 3.11 a task that is cancelled in the moment in which it
is handed a connection never hears of it.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any, TypeVar

from psycopg import Error
from psycopg_pool import AsyncConnectionPool

from memory.bounded_connection import BoundedConnection
from memory.connection_check import check_connection

SomeConnection = TypeVar("SomeConnection", bound=BoundedConnection[Any])

RECONNECT_SECONDS = 2.0
"""For one row of attempts to connect, a second apart; who still waits then begins another."""
PAUSE_SECONDS = 0.2


class CheckedPool(AsyncConnectionPool[SomeConnection]):
    """Hands out connections that work; dropped ones are replaced on the way. Made with `check=None`."""

    _opening = False
    _silent_at = float("-inf")
    """When a connection was last found that nothing comes through any more, by the monotonic clock."""

    async def open(self, wait: bool = False, timeout: float = 30.0) -> None:  # noqa: ASYNC109 (the library's)
        """Begin to connect; with `wait`, return when there is a connection. Raises PoolTimeout."""
        self._opening = wait
        try:
            await super().open(wait, timeout)
        finally:
            self._opening = False

    async def getconn(self, timeout: float | None = None) -> SomeConnection:  # noqa: ASYNC109 (the library's)
        """A connection that nobody has closed. Raises PoolTimeout, PoolClosed, and CancelledError where it is due."""
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        found_dropped = 0
        while True:
            connection = await self._handed_out(deadline - time.monotonic())
            try:
                await check_connection(connection, silent_at=self._silent_at)
            except Error:
                await self.putconn(connection)  # which replaces it
                found_dropped += 1
                if found_dropped > self.max_size:  # all that were idle, and new ones: the server is going
                    await asyncio.sleep(PAUSE_SECONDS)
            except BaseException:
                await self.putconn(connection)
                raise
            else:
                return connection

    async def putconn(self, conn: SomeConnection) -> None:
        """Take a connection back. One on which nobody answered speaks for all that have been quiet since before."""
        if conn.unanswered:
            self._silent_at = time.monotonic()
        await super().putconn(conn)

    async def _handed_out(self, seconds: float) -> SomeConnection:
        """A connection of the pool, unless the task was cancelled while it waited: `asyncio.wait_for`, by which the
        pool waits, forgets a cancellation that comes together with what it waits for."""
        task = asyncio.current_task()
        before = task.cancelling() if task else 0
        connection = await super().getconn(seconds)
        if task and task.cancelling() > before:
            await self.putconn(connection)
            raise asyncio.CancelledError
        return connection

    async def reconnect_failed(self) -> None:
        """Begin anew for those who wait; whoever comes later begins by themselves."""
        if self._opening or self.get_stats()["requests_waiting"]:
            await self.check()
