"""A fresh database for each trial, on a Postgres of its own: what is configured is never touched."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import LiteralString
from uuid import uuid4

import psycopg
from psycopg import sql
from pydantic import SecretStr

from graph.holder import open_services
from graph.settings import Settings
from memory.database_url import DatabaseUrl
from memory.embedded import EmbeddedPostgres
from nodes.business import Business

TEMPLATE = "steward_eval"
CONNECTIONS = 4
"""Of one trial: it has one conversation."""


class FreshDatabases:
    """Copies of a database in which the business has been set up once: tables, seed data, documents."""

    def __init__(self, settings: Settings, server: str, home: Path) -> None:
        self._server = DatabaseUrl.parse(server)
        self._settings = settings
        self._home = home
        self._copying = asyncio.Lock()

    @asynccontextmanager
    async def fresh(self) -> AsyncIterator[Settings]:
        """The settings on a new copy, which is dropped at the end."""
        name = f"trial_{uuid4().hex}"
        async with self._copying:
            await self._run("CREATE DATABASE {} TEMPLATE {}", name, TEMPLATE)
        try:
            yield self.settings_on(name)
        finally:
            await self._run("DROP DATABASE {} WITH (FORCE)", name)

    async def set_up(self, business: Business) -> None:
        """Make the database that is copied."""
        await self._run("CREATE DATABASE {}", TEMPLATE)
        async with open_services(self.settings_on(TEMPLATE), business) as services:
            if services.classifier:
                await services.classifier.train()

    def settings_on(self, name: str) -> Settings:
        """The settings on one of the databases; memory jobs run when a case says so."""
        return self._settings.model_copy(
            update={
                "database_url": SecretStr(self._server.at(name).libpq),
                "steward_home": self._home,
                "steward_pool_size": CONNECTIONS,
                "steward_pgbouncer": "off",
                "steward_worker": "external",
            }
        )

    async def _run(self, statement: LiteralString, *names: str) -> None:
        query = sql.SQL(statement).format(*map(sql.Identifier, names))
        async with await psycopg.AsyncConnection.connect(self._server.libpq, autocommit=True) as connection:
            await connection.execute(query)


@asynccontextmanager
async def fresh_databases(settings: Settings, business: Business) -> AsyncIterator[FreshDatabases]:
    """A Postgres in a temporary folder, with the business set up; gone at the end. Raises DatabaseError."""
    with TemporaryDirectory(prefix="steward-eval-") as folder:
        home = Path(folder)
        server = await asyncio.to_thread(EmbeddedPostgres, home)
        try:
            databases = FreshDatabases(settings, await asyncio.to_thread(server.start), home)
            await databases.set_up(business)
            yield databases
        finally:
            await asyncio.to_thread(server.release)
