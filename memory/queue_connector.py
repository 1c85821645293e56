"""The job queue on the agent's own pool: no second pool, and one connection more only to listen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, LiteralString

import psycopg
from procrastinate import exceptions
from procrastinate.connector import BaseAsyncConnector, Notify
from procrastinate.manager import QUEUEING_LOCK_CONSTRAINT
from psycopg import sql
from psycopg.types.json import Jsonb

from memory.business_schema import FIRST
from memory.database import Connection, Database

RECONNECT_SECONDS = 2.0
QUIET_SECONDS = 20.0
"""Without a notification for so long, the listener asks whether its connection still works."""


class PoolConnector(BaseAsyncConnector):
    """What procrastinate needs of a connector, on a `Database` that somebody else opens and closes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get_sync_connector(self) -> BaseAsyncConnector:
        return self

    async def open_async(self, pool: Any = None) -> None:
        """Nothing to open: the database is open already."""

    async def close_async(self) -> None:
        """Nothing to close either."""

    async def execute_query_async(self, query: LiteralString, **arguments: Any) -> None:
        async with self._connection() as connection:
            await connection.execute(query, _wrapped(arguments))

    async def execute_query_one_async(self, query: LiteralString, **arguments: Any) -> dict[str, Any]:
        rows = await self.execute_query_all_async(query, **arguments)
        if not rows:
            raise exceptions.NoResult
        return rows[0]

    async def execute_query_all_async(self, query: LiteralString, **arguments: Any) -> list[dict[str, Any]]:
        async with self._connection() as connection:
            cursor = await connection.execute(query, _wrapped(arguments))
            return await cursor.fetchall()

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Hand on notifications until cancelled. While the server is away, polling does the work."""
        names = list(channels)
        while True:
            try:
                async with await self._database.connect() as connection:
                    for name in names:
                        await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(name)))
                    while True:
                        async for notification in connection.notifies(timeout=QUIET_SECONDS):
                            await on_notification(channel=notification.channel, payload=notification.payload)
                        await connection.execute("")  # quiet, or cut off?
            except psycopg.OperationalError:
                await asyncio.sleep(RECONNECT_SECONDS)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        try:
            async with self._database.connection() as connection, self._own_functions(connection):
                yield connection
        except psycopg.errors.UniqueViolation as error:
            name = error.diag.constraint_name
            lock = name if name == QUEUEING_LOCK_CONSTRAINT else None
            raise exceptions.UniqueViolation(constraint_name=name or "", queueing_lock=lock) from error
        except psycopg.Error as error:
            raise exceptions.ConnectorException(error.diag.message_primary or str(error)) from error

    @asynccontextmanager
    async def _own_functions(self, connection: Connection) -> AsyncIterator[None]:
        """The queue's functions in this business's schema alone: beside those of the business in `public`, which take
        enumerations of their own, Postgres could not tell which is meant."""
        schema = self._database.schema
        if schema == FIRST:
            yield
            return
        async with connection.transaction():
            await connection.execute(sql.SQL("SET LOCAL search_path = {}").format(sql.Identifier(schema)))
            yield


def _wrapped(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: _json(value) for name, value in arguments.items()}


def _json(value: Any) -> Any:
    if isinstance(value, dict):
        return Jsonb(value)
    if isinstance(value, tuple):
        return tuple(_json(item) for item in value)
    if isinstance(value, list):
        return [_json(item) for item in value]
    return value
