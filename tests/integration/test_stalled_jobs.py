"""A job that is marked as being done and that nobody does goes back into the queue, whatever it comes from."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from structlog.testing import capture_logs

from memory.database import Database
from memory.embeddings import LocalEmbedder
from memory.extraction import Exchange, KnownMemory, MemoryItem
from memory.queue import MemoryQueue
from memory.settings import MemorySettings
from memory.store import list_memories
from memory.worker import BackOff, Worker
from tests.support.memory import ScriptedExtractor, ScriptedSummariser, exchange, literal

LEFT = "SELECT id, status::text, worker_id FROM procrastinate_jobs WHERE task_name = 'remember_turn'"
# A sequence is not rolled back: the first statement that would end a job loses its connection, the next one does not.
DROP_THE_FIRST_END = (
    "CREATE SEQUENCE ends",
    """
    CREATE FUNCTION drop_first() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF nextval('ends') = 1 THEN
            PERFORM pg_terminate_backend(pg_backend_pid());
        END IF;
        RETURN coalesce(NEW, OLD);
    END $$
    """,
    """
    CREATE TRIGGER drop_first BEFORE DELETE OR UPDATE ON procrastinate_jobs FOR EACH ROW
    WHEN (OLD.status = 'doing') EXECUTE FUNCTION drop_first()
    """,
)
PATIENCE = 60
"""Seconds, on a machine that does other things."""


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.worker.LOOK_SECONDS", 0.2)
    monkeypatch.setattr(BackOff, "first_seconds", 0.0)


@asynccontextmanager
async def working(database: Database, embedder: LocalEmbedder, extractor: Any) -> AsyncIterator[None]:
    worker = Worker(database, embedder, extractor, ScriptedSummariser(), MemorySettings(_env_file=None))
    running = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def nothing_left(database: Database) -> None:
    async with asyncio.timeout(PATIENCE):
        while await database.fetch(LEFT):  # noqa: ASYNC110 (the event is in the database)
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("failures", [0, 1], ids=["it was done", "it was to be tried again"])
async def test_a_job_whose_end_could_not_be_stored_holds_nobody_up(
    database: Database, embedder: LocalEmbedder, failures: int
) -> None:
    fails = [RuntimeError("no answer")] * failures

    def script(turn: Exchange) -> Sequence[MemoryItem]:
        if fails:
            raise fails.pop()
        return literal(turn)

    for statement in DROP_THE_FIRST_END:
        await database.execute(statement)
    queue = MemoryQueue(database)
    await queue.enqueue_turn(exchange("tea = Likes green tea", turn="one"))
    async with working(database, embedder, ScriptedExtractor(script)):
        while not (await database.fetch("SELECT is_called FROM ends"))[0]["is_called"]:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        await queue.enqueue_turn(exchange("milk = Drinks oat milk", turn="two"))
        await nothing_left(database)
    assert {memory.key for memory in await list_memories(database, "user_123")} == {"tea", "milk"}
    turns = await database.fetch("SELECT turn_id FROM session_turn ORDER BY turn_id")
    assert [row["turn_id"] for row in turns] == ["one", "two"], "each once"


async def test_a_job_that_fails_while_the_same_is_queued_again_holds_nobody_up(
    database: Database, embedder: LocalEmbedder
) -> None:
    queue = MemoryQueue(database)
    turn = exchange("tea = Likes green tea")
    fails = [RuntimeError("no answer")]

    async def extractor(turn: Exchange, known: Sequence[KnownMemory], /) -> Sequence[MemoryItem]:
        if fails:
            await queue.enqueue_turn(turn)
            raise fails.pop()
        return literal(turn)

    await queue.enqueue_turn(turn)
    async with working(database, embedder, extractor):
        await nothing_left(database)
    assert [memory.key for memory in await list_memories(database, "user_123")] == ["tea"]


async def test_a_worker_whose_heartbeat_came_late_goes_on_and_says_so_in_a_line_each(
    database: Database, embedder: LocalEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    queue = MemoryQueue(database)
    asked: list[str] = []
    taken_for_dead = asyncio.Event()

    async def extractor(turn: Exchange, known: Sequence[KnownMemory], /) -> Sequence[MemoryItem]:
        asked.append(turn.turn_id)
        if turn.turn_id == "one":
            await database.execute("DELETE FROM procrastinate_workers")
            await asyncio.sleep(0.5)  # some looks for jobs that nobody works on
            await database.execute("DELETE FROM procrastinate_jobs WHERE status = 'doing'")
            taken_for_dead.set()
        return literal(turn)

    await queue.enqueue_turn(exchange("tea = Likes green tea", turn="one"))
    with capture_logs() as logs:
        async with working(database, embedder, extractor):
            await asyncio.wait_for(taken_for_dead.wait(), PATIENCE)
            await queue.enqueue_turn(exchange("milk = Drinks oat milk", turn="two"))
            await nothing_left(database)
    assert asked == ["one", "two"], "not begun anew by the very process that is at it"
    told = {line["event"]: line["error"] for line in logs if line["log_level"] == "warning"}
    assert set(told) == {"end of a memory job not stored", "memory worker starts again"}
    assert "not found" in told["end of a memory job not stored"]
    assert "taken for dead" in told["memory worker starts again"]
    assert not [record for record in caplog.records if record.name == "asyncio"]


async def test_a_drain_whose_heartbeat_came_late_goes_on(database: Database, embedder: LocalEmbedder) -> None:
    queue = MemoryQueue(database)

    async def extractor(turn: Exchange, known: Sequence[KnownMemory], /) -> Sequence[MemoryItem]:
        if turn.turn_id == "one":
            await database.execute("DELETE FROM procrastinate_workers")
            await queue.enqueue_turn(exchange("milk = Drinks oat milk", user="mei", turn="two"))
        return literal(turn)

    await queue.enqueue_turn(exchange("tea = Likes green tea", turn="one"))
    worker = Worker(database, embedder, extractor, ScriptedSummariser(), MemorySettings(_env_file=None))
    assert await worker.drain(timeout=PATIENCE)
    assert [memory.key for memory in await list_memories(database, "mei")] == ["milk"]
