"""Whether a pooled connection still works, found out without a round trip where that can be.

A server that goes away, or ends a session, says so on the socket: a connection that was used a moment ago and on which
nothing has arrived since is as good as when it was given back. Only one on which something has is asked, and one that
has been quiet for longer: a network that was cut says nothing.
"""

from __future__ import annotations

import selectors
import time
from typing import Any, Final

from psycopg import OperationalError
from psycopg_pool import AsyncConnectionPool

from memory.bounded_connection import BoundedConnection

QUIET_SECONDS: Final = 5.0
ANSWER_SECONDS: Final = 3.0


async def check_connection(connection: BoundedConnection[Any], *, silent_at: float = float("-inf")) -> None:
    """Raises OperationalError where the connection is of no use any more.

    `silent_at` is when another one was found on which nobody answers (monotonic clock): one that has been quiet since
    before is given up at once, for it is quicker to connect anew than to ask each.
    """
    if not has_heard(connection):
        if connection.heard_at < silent_at:
            await connection.close()
            raise OperationalError("quiet since the network was cut")
        if time.monotonic() - connection.heard_at < QUIET_SECONDS:
            return
    async with connection.answering_within(ANSWER_SECONDS):
        await AsyncConnectionPool.check_connection(connection)


def has_heard(connection: BoundedConnection[Any]) -> bool:
    """Whether bytes, or the end of the stream, wait to be read; of a closed connection as well."""
    if connection.closed:
        return True
    with selectors.DefaultSelector() as selector:
        selector.register(connection.fileno(), selectors.EVENT_READ)
        return bool(selector.select(0))
