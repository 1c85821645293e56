"""Brings the schema up to date, from any number of processes at once.

Each migration is one transaction that takes an advisory lock, looks whether somebody else was quicker, applies the
SQL and records it in `schema_migration`. The lock ends with the transaction, so this works through PgBouncer too.
LangGraph's checkpoint tables and the job queue's tables go the same way, because their own set-up fails when two
processes run it at the same time. When there is nothing to do, the whole check is one query.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from psycopg import errors

from memory.database import Connection, Database
from memory.errors import SchemaError
from memory.migration import SCHEMA_MIGRATION, Migration, read_folder
from memory.migrations_of_libraries import EXTENSION, library_migrations, record_for_library

LOCK = 0x53544557  # any number of our own: this one spells "STEW"

APPLIED = "SELECT package, number, checksum FROM schema_migration"
RECORD = "INSERT INTO schema_migration (package, number, name, checksum) VALUES (%s, %s, %s, %s)"

INSTALL_VECTOR = (
    "install it on the server (https://github.com/pgvector/pgvector), or unset DATABASE_URL to use the embedded "
    "Postgres, which has it"
)
ADD_VECTOR = "let a superuser run CREATE EXTENSION vector in it, or connect as one"

Applied = dict[tuple[str, int], str]


async def migrate(database: Database, folders: Sequence[tuple[str, Path]]) -> list[Migration]:
    """Apply what is missing, in the order of the folders: (package, folder with NNNN_name.sql files).

    Returns what this call applied. Raises SchemaError when the schema is newer than the code, when an applied file
    has been changed, or when pgvector cannot be had.
    """
    missing = await pending(database, folders)
    applied = []
    for migration in missing:
        try:
            if await _apply(database, migration):
                applied.append(migration)
        except (errors.FeatureNotSupported, errors.UndefinedFile) as error:
            raise SchemaError(_cure(migration, error)) from error
        except SchemaError as error:
            if isinstance(error.__cause__, errors.InsufficientPrivilege) and migration.package == EXTENSION:
                raise SchemaError(_cure(migration, error.__cause__)) from error
            raise
        except errors.Error as error:
            raise SchemaError(f"Migration {migration} failed and was undone: {error}") from error
    return applied


async def pending(database: Database, folders: Sequence[tuple[str, Path]]) -> list[Migration]:
    """What has not been applied yet. Raises SchemaError as `migrate` does."""
    known = await asyncio.to_thread(_known, tuple(folders))
    applied = await _read_applied(database)
    _refuse_newer(known, applied)
    _refuse_changed(known, applied)
    return [migration for migration in known if migration.key not in applied]


def _known(folders: tuple[tuple[str, Path], ...]) -> list[Migration]:
    own = [migration for package, folder in folders for migration in read_folder(package, folder)]
    return [*library_migrations(), *own]


async def _read_applied(database: Database) -> Applied:
    try:
        rows = await database.fetch(APPLIED)
    except errors.UndefinedTable:
        return {}
    return {(row["package"], row["number"]): row["checksum"] for row in rows}


def _refuse_newer(known: Sequence[Migration], applied: Applied) -> None:
    newest: dict[str, int] = {}
    for migration in known:
        newest[migration.package] = max(migration.number, newest.get(migration.package, 0))
    for package, number in applied:
        if package in newest and number > newest[package]:
            raise SchemaError(
                f"The database's schema is newer than this code: it has {package}/{number:04}, "
                f"the code knows up to {package}/{newest[package]:04}. Install the newer version."
            )


def _refuse_changed(known: Sequence[Migration], applied: Applied) -> None:
    for migration in known:
        if migration.own and applied.get(migration.key, migration.checksum) != migration.checksum:
            raise SchemaError(
                f"Migration {migration} has been changed after it was applied; "
                "put the file back as it was, and add a new one for the change."
            )


async def _apply(database: Database, migration: Migration) -> bool:
    """Apply and record one migration, unless another process has done so by now."""
    async with database.transaction() as connection, connection.answering_within(None):
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        await connection.execute("SET LOCAL statement_timeout = 0")
        await connection.execute(SCHEMA_MIGRATION, prepare=False)
        if await _is_recorded(connection, migration):
            return False
        if not migration.own and migration.package != EXTENSION:
            # Where several businesses share the database, a library's functions stand in `public` too.
            await connection.execute("SELECT set_config('search_path', current_schema(), true)")
        # Sent without parameters and unprepared, so that a file may hold several statements.
        await connection.execute(migration.sql, prepare=False)
        await record_for_library(connection, migration)
        await connection.execute(
            RECORD, (migration.package, migration.number, migration.name, migration.checksum)
        )
        return True


async def _is_recorded(connection: Connection, migration: Migration) -> bool:
    cursor = await connection.execute(
        "SELECT FROM schema_migration WHERE package = %s AND number = %s", migration.key
    )
    return await cursor.fetchone() is not None


def _cure(migration: Migration, error: errors.Error) -> str:
    said = str(error).splitlines()[0]
    if migration.package != EXTENSION:
        return f"Migration {migration} failed and was undone: {said}"
    if isinstance(error, errors.InsufficientPrivilege):
        return f"The database has no pgvector, and its user may not add it ({said}); {ADD_VECTOR}."
    return f"Postgres has no pgvector ({said}); {INSTALL_VECTOR}."
