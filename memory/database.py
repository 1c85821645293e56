"""One connection pool to Postgres, with the checks that keep a dropped connection from failing a turn."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

Pool = AsyncConnectionPool[AsyncConnection[DictRow]]


class Database:
    """A pool of autocommit connections with dict rows. Belongs to one event loop."""

    def __init__(self, url: str, *, size: int = 10) -> None:
        self.url = url
        self.pool: Pool = AsyncConnectionPool(
            url,
            min_size=1,
            max_size=size,
            open=False,
            timeout=10,
            check=AsyncConnectionPool.check_connection,
            kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row},
        )

    async def __aenter__(self) -> Self:
        await self.pool.open(wait=True)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.pool.close()

    async def fetch(self, query: str, params: Any = None) -> list[dict[str, Any]]:
        """All rows of one statement."""
        async with self.pool.connection() as connection:
            cursor = await connection.execute(query, params)
            return await cursor.fetchall()

    async def execute(self, query: str, params: Any = None) -> int:
        """Run one statement; the number of rows it touched."""
        async with self.pool.connection() as connection:
            cursor = await connection.execute(query, params)
            return cursor.rowcount
