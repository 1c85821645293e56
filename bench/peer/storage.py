"""Bytes in Postgres: every table of a contestant's database that a turn adds to, values and rows."""

from __future__ import annotations

import psycopg
from psycopg import sql
from psycopg.rows import tuple_row

TABLES = """
SELECT n.nspname, c.relname
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE c.relkind = 'r' AND n.nspname = 'public'
   AND c.relname NOT IN ('schema_migration', 'checkpoint_migrations')
 ORDER BY c.relname
"""
COLUMNS = """
SELECT attname, atttypid::regtype::text FROM pg_attribute
 WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""


def bytes_by_table(url: str) -> dict[str, int]:
    """Length of what is stored, by table: text, bytes and JSON in full (before Postgres compresses anything),
    the row's own header and its entries in no index left out. Tables without rows are not named."""
    with psycopg.connect(url, autocommit=True, row_factory=tuple_row) as connection:
        sizes = {}
        for schema, table in connection.execute(TABLES).fetchall():
            name = sql.Identifier(schema, table)
            columns = connection.execute(COLUMNS, (f'"{schema}"."{table}"',)).fetchall()
            parts = [_length(column, kind) for column, kind in columns]
            query = sql.SQL("SELECT coalesce(sum({}), 0)::bigint FROM {}").format(
                sql.SQL(" + ").join(parts), name
            )
            row = connection.execute(query).fetchone()
            sizes[table] = row[0] if row else 0
    return {table: size for table, size in sizes.items() if size}


def _length(column: str, kind: str) -> sql.Composable:
    name = sql.Identifier(column)
    if kind in ("text", "bytea"):
        return sql.SQL("coalesce(octet_length({}), 0)").format(name)
    if kind in ("json", "jsonb"):
        return sql.SQL("coalesce(octet_length({}::text), 0)").format(name)
    return sql.SQL("coalesce(pg_column_size({}), 0)").format(name)


def bytes_on_disk(url: str) -> int:
    """What the same tables take on disk after a VACUUM FULL: compressed, with rows' headers and all indexes."""
    with psycopg.connect(url, autocommit=True, row_factory=tuple_row) as connection:
        total = 0
        for schema, table in connection.execute(TABLES).fetchall():
            name = f'"{schema}"."{table}"'
            connection.execute(sql.SQL("VACUUM FULL {}").format(sql.Identifier(schema, table)))
            row = connection.execute(
                "SELECT CASE WHEN pg_relation_size(%s) = 0 THEN 0 ELSE pg_total_relation_size(%s) END",
                (name, name),
            ).fetchone()
            total += row[0] if row else 0
    return total
