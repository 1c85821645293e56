"""The batches of the checkpoint writer, at moments that are hard to hit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from memory.checkpoint_rows import Entry, StepRow
from memory.checkpoint_writer import ATTEMPTS, CheckpointWriter
from memory.database import Connection, Database
from memory.errors import ConnectionDropped


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


DROPPED = """
CREATE SEQUENCE tries;
CREATE FUNCTION dropped() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
    IF nextval('tries') <= {0} THEN
        PERFORM pg_terminate_backend(pg_backend_pid());
        PERFORM pg_sleep(5);
    END IF;
    RETURN NEW;
END $body$;
CREATE TRIGGER dropped BEFORE INSERT ON checkpoints FOR EACH ROW EXECUTE FUNCTION dropped();
"""
STEP = StepRow("t", "", "c1", None, {"id": "c1"}, {"source": "input"})


@pytest.mark.parametrize(("times", "stored"), [(ATTEMPTS - 1, 1), (ATTEMPTS, 0)])
async def test_a_batch_whose_connection_is_lost_is_sent_again_a_few_times(
    database: Database, times: int, stored: int
) -> None:
    async with database.connection() as connection:
        await connection.execute(DROPPED.format(times).encode(), prepare=False)
    writer = CheckpointWriter(database)
    putting = writer.put(Entry(needs=None, makes="c1", step=STEP), may_wait=False)
    if stored:
        await putting
    else:
        with pytest.raises(ConnectionDropped):
            await putting
    assert len(await database.fetch("SELECT FROM checkpoints")) == stored
