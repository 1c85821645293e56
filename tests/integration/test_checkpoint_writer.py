"""The batches of the checkpoint writer, at moments that are hard to hit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from memory.checkpoint_rows import Entry
from memory.checkpoint_writer import CheckpointWriter
from memory.database import Connection, Database


class Telling(Database):
    """Tells when a connection has been given back."""

    given_back: asyncio.Event

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        async with super().connection() as connection:
            yield connection
        self.given_back.set()


async def test_who_flushes_in_the_very_moment_in_which_a_batch_is_stored_does_not_stop_the_loop(
    database_url: str,
) -> None:
    async with Telling(database_url, size=1) as database:
        database.given_back = asyncio.Event()
        writer = CheckpointWriter(database)

        async def flush_when_given_back() -> None:
            await database.given_back.wait()
            await writer.flush()

        flushing = asyncio.create_task(flush_when_given_back())
        await asyncio.sleep(0)
        database.given_back.clear()
        await writer.put(Entry(needs=None, makes="c1"), may_wait=False)
        await flushing
