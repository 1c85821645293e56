"""A server for the run, and a fresh database in it for each contestant."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
from psycopg import sql

from memory.embedded import EmbeddedPostgres


@contextmanager
def server(home: Path) -> Iterator[str]:
    """DATABASE_URL's server; none: an embedded one in `home`."""
    if given := os.environ.get("DATABASE_URL"):
        yield given
        return
    postgres = EmbeddedPostgres(home)
    try:
        yield postgres.start()
    finally:
        postgres.release()


@contextmanager
def fresh_database(server_url: str) -> Iterator[str]:
    """An empty database, dropped at the end."""
    name = f"peer_{uuid4().hex}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    try:
        yield _at(server_url, name)
    finally:
        with psycopg.connect(server_url, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _at(url: str, name: str) -> str:
    parts = urlsplit(url)
    moved = urlunsplit(parts._replace(path=f"/{name}"))
    return moved if parts.netloc else moved.replace("postgresql:/", "postgresql:///", 1)
