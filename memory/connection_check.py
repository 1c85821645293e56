"""Whether a pooled connection still works, found out without a round trip.

A server that goes away, or ends a session, says so on the socket: an idle connection on which nothing has arrived is
as good as when it was given back. Only one on which something has is asked.
"""

from __future__ import annotations

import selectors
from typing import Any

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool


async def check_connection(connection: AsyncConnection[Any]) -> None:
    """Raises OperationalError where the connection is of no use any more.

    A peer that has vanished without a word is found by TCP keep-alive, as it is in the middle of a statement.
    """
    if has_heard(connection):
        await AsyncConnectionPool.check_connection(connection)


def has_heard(connection: AsyncConnection[Any]) -> bool:
    """Whether bytes, or the end of the stream, wait to be read; of a closed connection as well."""
    if connection.closed:
        return True
    with selectors.DefaultSelector() as selector:
        selector.register(connection.fileno(), selectors.EVENT_READ)
        return bool(selector.select(0))
