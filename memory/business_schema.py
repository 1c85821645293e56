"""Which schema of a database holds the tables of a business, so that several share one database and nothing mixes.

The first business that opens a database has its `public` schema; each further one gets a schema of its own. All
that the engine keeps stands there: conversations, memories, documents, jobs, ledgers.
"""

from __future__ import annotations

from psycopg import AsyncConnection, errors, sql
from psycopg.rows import DictRow

from memory.errors import SchemaError
from memory.migration import SCHEMA_MIGRATION

Connection = AsyncConnection[DictRow]

FIRST = "public"
LOCK = 0x53544258  # any number of our own

SERVED = """
CREATE TABLE IF NOT EXISTS public.served_business (
    name text PRIMARY KEY,
    schema_name text NOT NULL UNIQUE,
    since timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE public.served_business IS 'Which schema of this database holds the tables of which business.';
"""
FOUND = "SELECT name, schema_name FROM public.served_business"
SERVE = "INSERT INTO public.served_business (name, schema_name) VALUES (%s, %s)"
EXISTS = "SELECT to_regclass('public.served_business') IS NOT NULL AS there"


async def schema_of(connection: Connection, business: str) -> str:
    """The schema of a business, without making one.

    Raises SchemaError where the database serves others and this one has never been opened there.
    """
    served = await _served(connection)
    if business in served or not served:
        return served.get(business, FIRST)
    raise SchemaError(
        f"The database serves {', '.join(sorted(served))} and has no tables of {business} yet; "
        "start the agent once: it makes them."
    )


async def claim_schema(connection: Connection, business: str) -> str:
    """The schema of a business; the first time one is found for it. Safe to run from many processes."""
    served = await _served(connection)
    if business in served:
        return served[business]
    try:
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            await connection.execute(SERVED, prepare=False)
            served = await _served(connection)
            if business not in served:
                served[business] = await _made(connection, business, first=not served)
    except errors.InsufficientPrivilege as error:
        raise SchemaError(
            f"The database user may not make the tables of the business {business} ({_said(error)}); grant CREATE on "
            "the database and on its schema public, or give the business a database of its own."
        ) from error
    return served[business]


async def _made(connection: Connection, business: str, *, first: bool) -> str:
    schema = FIRST if first else f"steward_{business}"
    if not first:
        name = sql.Identifier(schema)
        await connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(name))
        # Its record of migrations is there from the start: the one in `public` must not be taken for it.
        await connection.execute(sql.SQL("SET LOCAL search_path = {}").format(name))
        await connection.execute(SCHEMA_MIGRATION, prepare=False)
    await connection.execute(SERVE, (business, schema))
    return schema


def _said(error: errors.Error) -> str:
    return str(error).splitlines()[0]


async def _served(connection: Connection) -> dict[str, str]:
    cursor = await connection.execute(EXISTS)
    row = await cursor.fetchone()
    if not row or not row["there"]:
        return {}
    rows = await (await connection.execute(FOUND)).fetchall()
    return {row["name"]: row["schema_name"] for row in rows}
