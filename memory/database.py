"""One connection pool to Postgres, with the checks that keep a dropped connection from failing a turn."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import TracebackType
from typing import Any, Self

from psycopg import InterfaceError, OperationalError, errors
from psycopg.rows import DictRow, dict_row
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from memory.bounded_connection import BoundedConnection
from memory.business_schema import FIRST, claim_schema, schema_of
from memory.database_url import DatabaseUrl, is_lasting
from memory.embedded import EmbeddedPostgres
from memory.errors import ConnectionDropped, DatabaseUnavailable, SchemaError
from memory.pool import RECONNECT_SECONDS, CheckedPool
from memory.settings import MemorySettings

Connection = BoundedConnection[DictRow]
Pool = CheckedPool[Connection]
SchemaFinder = Callable[[Connection], Awaitable[str]]

NOT_STORING: dict[type[Exception], str] = {
    errors.ReadOnlySqlTransaction: "it is read-only; point DATABASE_URL at the primary, or lift the restriction",
    errors.DiskFull: "its disk is full; make room there",
    errors.OutOfMemory: "it has no memory left; give it more, or lower its connections",
}
START_SECONDS = 10.0
RETRY_SECONDS = 0.3
GRACE_SECONDS = 5.0
"""For the answer of a statement, beyond the time in which the server ends it."""
IDLE_IN_TRANSACTION_SECONDS = 60
"""What a client holds in Postgres that has gone without a word, in the midst of a transaction, is free after that."""
# A server that has gone without a word is noticed within a minute; ignored on a unix socket.
NETWORK = {
    "connect_timeout": 5,
    "keepalives_idle": 20,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
# Prepared statements are planned once a connection: planning recall anew each time takes longer than running it. The
# plan may be made while a table is all but empty, and has to do when it is not: whole tables are read where nothing
# else is possible. Before Postgres 18 such a plan counts as so costly that it would be compiled each time.
SESSION = """
SELECT set_config('statement_timeout', %s, false), set_config('plan_cache_mode', 'force_generic_plan', false),
    set_config('enable_seqscan', 'off', false), set_config('jit', 'off', false),
    set_config('idle_in_transaction_session_timeout', %s, false)
"""


class Database:
    """A pool of autocommit connections with dict rows. Belongs to one event loop.

    `size` is the most connections at once; a pool of one is enough for everything here, since nothing takes a second
    connection while it holds one. `pgbouncer` leaves out what transaction pooling cannot carry: prepared statements
    and session settings. `schema_of` finds, on the first connection, the schema in which plain names are looked up;
    None: as the server has it. `statement_seconds` ends a statement that takes longer, `wait_seconds` is how long a
    call waits for a free connection, `start_seconds` how long opening waits for a server that is just coming up.

        async with Database(url) as database:
            rows = await database.fetch("SELECT 1 AS one")

    Everything raises DatabaseUnavailable when Postgres cannot be reached or no connection comes free in time;
    errors of the statement itself are psycopg's.
    """

    def __init__(
        self,
        url: str,
        *,
        schema_of: SchemaFinder | None = None,
        size: int = 10,
        pgbouncer: bool = False,
        statement_seconds: float = 30,
        wait_seconds: float = 10,
        start_seconds: float = START_SECONDS,
    ) -> None:
        self.address = DatabaseUrl.parse(url)
        self.url = self.address.libpq
        self.pgbouncer = pgbouncer or self.address.pgbouncer
        self.statement_seconds = statement_seconds
        self.size = size
        self.start_seconds = start_seconds
        self.schema = FIRST
        """Where its tables stand."""
        self._schema_of = schema_of
        self._wait_seconds = wait_seconds
        self._options: dict[str, Any] = {
            "autocommit": True,
            "prepare_threshold": None if self.pgbouncer else 0,
            "row_factory": dict_row,
            **NETWORK,
        }
        self.pool = self._make_pool()

    def _make_pool(self) -> Pool:
        return Pool(
            self.url,
            connection_class=Connection,
            min_size=1,
            max_size=self.size,
            open=False,
            timeout=self._wait_seconds,
            reconnect_timeout=RECONNECT_SECONDS,
            configure=self._configure,
            kwargs=self._options,
        )

    async def connect(self) -> Connection:
        """A connection of one's own, beside the pool's. Raises psycopg's OperationalError."""
        connection = await Connection.connect(self.url, **self._options)
        connection.answer_seconds = self.statement_seconds + GRACE_SECONDS
        return connection

    @property
    def sqlalchemy_url(self) -> str:
        """The same database for SQLAlchemy and langchain-postgres."""
        return self.address.sqlalchemy

    async def __aenter__(self) -> Self:
        await self._wait_for_server()
        try:
            await self.pool.open(wait=True, timeout=max(self.start_seconds, 1))
        except PoolTimeout as error:
            raise DatabaseUnavailable(f"Postgres at {self.address} took no connection in time.") from error
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.pool.close()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """A connection of the pool for some statements; give it back soon, and never during a model call."""
        try:
            async with self.pool.connection() as connection:
                try:
                    with self._rights_told():
                        yield connection
                except (OperationalError, InterfaceError) as error:
                    if connection.broken or connection.closed:
                        raise ConnectionDropped(
                            f"Postgres at {self.address} dropped the connection; what was not committed is undone."
                        ) from error
                    raise
        except tuple(NOT_STORING) as error:
            raise DatabaseUnavailable(
                f"Postgres at {self.address} stores nothing: {NOT_STORING[type(error)]}."
            ) from error
        except (PoolTimeout, TooManyRequests) as error:
            raise DatabaseUnavailable(
                f"No connection to Postgres at {self.address} came free within {self.pool.timeout:.0f} s: "
                f"it is down, or {self.size} connections are too few (STEWARD_POOL_SIZE)."
            ) from error
        except PoolClosed as error:
            raise DatabaseUnavailable(
                "The connection pool is closed: the agent has been shut down."
            ) from error

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """A connection inside a transaction: committed at the end, rolled back on any exception."""
        async with self.connection() as connection, connection.transaction():
            yield connection

    async def fetch(self, query: str, params: Any = None) -> list[dict[str, Any]]:
        """All rows of one statement."""
        async with self.connection() as connection:
            cursor = await connection.execute(query, params)
            return await cursor.fetchall()

    async def fetch_one(self, query: str, params: Any = None) -> dict[str, Any] | None:
        """The first row of one statement, or None."""
        async with self.connection() as connection:
            cursor = await connection.execute(query, params)
            return await cursor.fetchone()

    async def execute(self, query: str, params: Any = None) -> int:
        """Run one statement; the number of rows it touched."""
        async with self.connection() as connection:
            cursor = await connection.execute(query, params)
            return cursor.rowcount

    @contextmanager
    def _rights_told(self) -> Iterator[None]:
        try:
            yield
        except errors.InsufficientPrivilege as error:
            said = str(error).splitlines()[0]
            raise SchemaError(
                f"The user in DATABASE_URL may not do at {self.address} what the agent has to ({said}); connect as "
                "the owner of its tables, or grant the right."
            ) from error

    async def _configure(self, connection: Connection) -> None:
        connection.answer_seconds = self.statement_seconds + GRACE_SECONDS
        if not self.pgbouncer:
            limits = (round(self.statement_seconds * 1000), IDLE_IN_TRANSACTION_SECONDS * 1000)
            await connection.execute(SESSION, [str(limit) for limit in limits])

    async def _wait_for_server(self) -> None:
        """Connect once before the pool does, since a pool does not tell why it could not."""
        until = time.monotonic() + self.start_seconds
        while True:
            try:
                connection = await self.connect()
            except OperationalError as error:
                if is_lasting(str(error)) or time.monotonic() > until:
                    raise DatabaseUnavailable(self.address.explain(str(error))) from error
                await asyncio.sleep(RETRY_SECONDS)
            else:
                with self._rights_told():
                    async with connection:
                        await self._enter_schema(connection)
                return

    async def _enter_schema(self, connection: Connection) -> None:
        schema = await self._schema_of(connection) if self._schema_of else FIRST
        if schema == FIRST:
            return
        if self.pgbouncer:
            raise SchemaError(
                f"The tables of this business are in the schema {schema}, which a connection through PgBouncer cannot "
                "be set to; give the business a database of its own, or set STEWARD_PGBOUNCER=off."
            )
        self.schema = schema
        self.address = self.address.within(schema)
        self.url = self.address.libpq
        self.pool = self._make_pool()


@asynccontextmanager
async def open_database(
    settings: MemorySettings,
    business: str | None = None,
    *,
    claim: bool = False,
    start_seconds: float = START_SECONDS,
) -> AsyncIterator[Database]:
    """The database that the settings name, else the embedded Postgres in STEWARD_HOME, which is started for it.

    `business` leads to the schema that holds its tables, which `claim` makes where there is none; without a business:
    to the `public` one. Raises DatabaseUnavailable, ConfigurationError, SchemaError.
    """
    finder = None if business is None else _schema_finder(business, claim=claim)
    if settings.database_url is not None:
        url = settings.database_url.get_secret_value()
        async with _from_settings(url, settings, finder, start_seconds) as database:
            yield database
        return
    # In a thread, like start and release: finding out where the home is reads folders.
    server = await asyncio.to_thread(EmbeddedPostgres, settings.steward_home)
    try:
        url = await asyncio.to_thread(server.start)
        async with _from_settings(url, settings, finder, start_seconds) as database:
            yield database
    finally:
        await asyncio.to_thread(server.release)


def _schema_finder(business: str, *, claim: bool) -> SchemaFinder:
    return lambda connection: (claim_schema if claim else schema_of)(connection, business)


def _from_settings(
    url: str, settings: MemorySettings, finder: SchemaFinder | None, start_seconds: float
) -> Database:
    return Database(
        url,
        schema_of=finder,
        size=settings.steward_pool_size,
        pgbouncer=settings.steward_pgbouncer == "on",
        statement_seconds=settings.steward_statement_seconds,
        start_seconds=start_seconds,
    )
