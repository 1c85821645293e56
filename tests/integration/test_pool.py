"""The pool after connections were dropped, while a server is away, and when its clients are cancelled."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psycopg
import pytest

from memory.database import Database
from memory.embedded import EmbeddedPostgres
from memory.errors import DatabaseUnavailable
from memory.pool import RECONNECT_SECONDS
from tests.support.sessions import end_others


async def test_the_call_after_all_of_many_idle_connections_were_dropped_succeeds(database_url: str) -> None:
    async with Database(database_url, size=8, wait_seconds=6) as database:
        await asyncio.gather(*(database.fetch("SELECT pg_sleep(0.3)") for _ in range(8)))
        assert database.pool.get_stats()["pool_available"] == 8
        with psycopg.connect(database_url, autocommit=True) as other:
            end_others(other)
        assert await database.fetch("SELECT 1 AS one") == [{"one": 1}]


async def test_a_task_that_is_cancelled_as_it_is_handed_a_connection_ends(database_url: str) -> None:
    async with Database(database_url, size=1) as database:
        reached = False

        async def call() -> None:
            nonlocal reached
            await database.fetch("SELECT 1")
            reached = True
            await asyncio.sleep(60)

        for _ in range(5):
            async with database.connection():
                task = asyncio.create_task(call())
                while not database.pool.get_stats()["requests_waiting"]:  # noqa: ASYNC110
                    await asyncio.sleep(0)
            task.cancel()  # in the same step in which the connection above went on to it
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(task, 5)
        assert not reached
        assert await database.fetch("SELECT 1 AS one") == [{"one": 1}], "its connection went back"


async def test_a_server_that_comes_back_is_used_at_once_however_often_it_was_looked_for(
    tmp_path: Path,
) -> None:
    server = EmbeddedPostgres(tmp_path)
    url = await asyncio.to_thread(server.start)
    try:
        async with Database(url, size=1, wait_seconds=2) as database:
            await asyncio.to_thread(server.release)
            with pytest.raises(DatabaseUnavailable, match="came free within 2 s"):
                await database.fetch("SELECT 1")
            await asyncio.sleep(1.3)
            await asyncio.to_thread(server.start)
            assert await database.fetch("SELECT 1 AS one") == [{"one": 1}]
    finally:
        await asyncio.to_thread(server.release)


async def test_a_pool_that_is_opened_before_the_server_is_up_waits_for_it(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path)
    url = await asyncio.to_thread(server.start)
    try:
        pool = Database(url, size=2).pool
        await asyncio.to_thread(server.release)
        opening = asyncio.create_task(pool.open(wait=True, timeout=20))
        await asyncio.sleep(2 * RECONNECT_SECONDS)
        await asyncio.to_thread(server.start)
        await opening
        await pool.close()
    finally:
        await asyncio.to_thread(server.release)


async def test_a_call_that_waits_for_a_server_gets_it_when_it_comes(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path)
    url = await asyncio.to_thread(server.start)
    try:
        async with Database(url, size=1, wait_seconds=20) as database:
            await asyncio.to_thread(server.release)
            waiting = asyncio.create_task(database.fetch("SELECT 1 AS one"))
            await asyncio.sleep(2 * RECONNECT_SECONDS)
            await asyncio.to_thread(server.start)
            assert await waiting == [{"one": 1}]
    finally:
        await asyncio.to_thread(server.release)
