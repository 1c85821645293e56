"""The queue and its worker: what is queued is remembered, once, whatever happens on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from memory.database import Database
from memory.embeddings import LocalEmbedder
from memory.extraction import Exchange, KnownMemory, MemoryItem
from memory.queue import MemoryQueue, failed_jobs, retry_failed_jobs
from memory.settings import MemorySettings
from memory.store import list_memories
from memory.worker import BackOff, Worker
from tests.support.memory import ScriptedExtractor, ScriptedSummariser, exchange, item


@pytest.fixture
def settings() -> MemorySettings:
    return MemorySettings(_env_file=None)


@pytest.fixture
def queue(database: Database) -> MemoryQueue:
    return MemoryQueue(database)


def make_worker(
    database: Database, embedder: LocalEmbedder, settings: MemorySettings, extractor: Any = None
) -> Worker:
    return Worker(database, embedder, extractor or ScriptedExtractor(), ScriptedSummariser(), settings)


async def contents(database: Database, user: str = "user_123") -> dict[str, str]:
    return {memory.key: memory.content for memory in await list_memories(database, user)}


async def test_a_queued_turn_is_remembered_and_its_job_is_gone(
    database: Database, embedder: LocalEmbedder, settings: MemorySettings, queue: MemoryQueue
) -> None:
    await queue.enqueue_turn(exchange("delivery_day = 周六不要送货"))
    assert await make_worker(database, embedder, settings).drain(timeout=10)
    assert await contents(database) == {"delivery_day": "周六不要送货"}
    assert await queue.depth() == {"todo": 1}, "only the session's snapshot is still to come"


async def test_draining_one_turn_leaves_the_others_to_the_worker(
    database: Database, embedder: LocalEmbedder, settings: MemorySettings, queue: MemoryQueue
) -> None:
    turn = exchange("tea = Likes green tea", turn="turn-a")
    await queue.enqueue_turn(turn)
    assert await make_worker(database, embedder, settings).drain(timeout=10, turn_id="turn-a")
    assert await contents(database) == {"tea": "Likes green tea"}


async def test_draining_gives_a_job_the_time_that_it_takes(
    database: Database,
    embedder: LocalEmbedder,
    settings: MemorySettings,
    queue: MemoryQueue,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("memory.worker.STOP_SECONDS", 0.1)
    asked: list[str] = []

    async def slow(turn: Exchange, known: Sequence[KnownMemory], /) -> Sequence[MemoryItem]:
        asked.append(turn.turn_id)
        await asyncio.sleep(1)
        return [item("tea", "Likes green tea")]

    await queue.enqueue_turn(exchange("Likes green tea", turn="turn-a"))
    assert await make_worker(database, embedder, settings, slow).drain(timeout=60)
    assert asked == ["turn-a"], "the model is paid for once"
    assert await contents(database) == {"tea": "Likes green tea"}


async def test_enqueuing_a_turn_is_one_statement(database_url: str, queue: MemoryQueue) -> None:
    sent: list[str] = []

    class Watched(psycopg.AsyncCursor[Any]):
        async def execute(self, query: Any, *arguments: Any, **options: Any) -> Any:
            sent.append(str(query))
            return await super().execute(query, *arguments, **options)

    async with Database(database_url, size=1) as database:
        async with database.pool.connection() as connection:
            connection.cursor_factory = Watched
        await MemoryQueue(database).enqueue_turn(exchange("hello"))
    statements = [query for query in sent if query]  # the pool's check of the connection is an empty one
    assert len(statements) == 1
    assert "procrastinate_defer_jobs" in statements[0]


async def test_the_same_turn_queued_again_is_remembered_once(
    database: Database, embedder: LocalEmbedder, settings: MemorySettings, queue: MemoryQueue
) -> None:
    extractor = ScriptedExtractor()
    worker = make_worker(database, embedder, settings, extractor)
    turn = exchange("tea = Likes green tea")
    await queue.enqueue_turn(turn)
    await queue.enqueue_turn(turn)
    await worker.drain(timeout=10)
    await queue.enqueue_turn(turn)
    await worker.drain(timeout=10)
    assert len(extractor.asked) == 1
    rows = await database.fetch("SELECT FROM user_memory")
    assert len(rows) == 1


async def test_a_users_waiting_turns_are_taken_in_one_batch(
    database: Database, embedder: LocalEmbedder, settings: MemorySettings, queue: MemoryQueue
) -> None:
    for number in range(5):
        await queue.enqueue_turn(exchange(f"key_{number} = Owns item {number}", turn=f"turn-{number}"))
    extractor = ScriptedExtractor()
    await make_worker(database, embedder, settings, extractor).drain(timeout=10)
    assert len(await contents(database)) == 5
    assert extractor.asked == [f"turn-{number}" for number in range(5)]
    assert extractor.shown[-1] == ["key_0", "key_1", "key_2", "key_3"], "the batch names alike what it found"
    started = await database.fetch("SELECT FROM procrastinate_events WHERE type = 'started'")
    assert len(started) == 0, "events went with their jobs"


async def test_turns_of_many_users_are_remembered_by_several_workers_at_once(
    database: Database, embedder: LocalEmbedder, settings: MemorySettings, queue: MemoryQueue
) -> None:
    for number in range(24):
        user = f"user {number % 6}"
        await queue.enqueue_turn(
            exchange(f"key_{number} = Owns item {number}", user=user, thread=user, turn=f"turn-{number}")
        )
    workers = [make_worker(database, embedder, settings) for _ in range(3)]
    await asyncio.gather(*(worker.drain(timeout=20) for worker in workers))
    for user in range(6):
        assert len(await contents(database, f"user {user}")) == 4


async def test_a_failing_extractor_leaves_the_job_for_later_and_the_other_turns_go_on(
    database: Database, embedder: LocalEmbedder, settings: MemorySettings, queue: MemoryQueue
) -> None:
    def script(turn: Exchange) -> Sequence[MemoryItem]:
        if turn.turn_id == "bad":
            raise RuntimeError("not JSON")
        return [item("tea", "Likes green tea")]

    await queue.enqueue_turn(exchange("I like coffee", turn="bad"))
    await queue.enqueue_turn(exchange("Likes green tea", turn="good"))
    await make_worker(database, embedder, settings, ScriptedExtractor(script)).drain(timeout=10)
    assert await contents(database) == {"tea": "Likes green tea"}
    (job,) = await database.fetch(
        "SELECT attempts, scheduled_at > now() AS later FROM procrastinate_jobs WHERE queueing_lock LIKE 'turn:%'"
    )
    assert job == {"attempts": 1, "later": True}


async def test_a_job_that_keeps_failing_is_given_up_visibly_and_can_be_tried_again(
    database: Database,
    embedder: LocalEmbedder,
    settings: MemorySettings,
    queue: MemoryQueue,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(BackOff, "first_seconds", 0.0)
    monkeypatch.setattr(BackOff, "attempts", 3)
    broken = True

    def script(turn: Exchange) -> Sequence[MemoryItem]:
        if broken:
            raise RuntimeError("no answer")
        return [item("tea", "Likes green tea")]

    worker = make_worker(database, embedder, settings, ScriptedExtractor(script))
    await queue.enqueue_turn(exchange("Likes green tea"))
    await worker.drain(timeout=10)
    (job,) = await failed_jobs(database)
    assert (job.task, job.user_id, job.attempts) == ("remember_turn", "user_123", 3)
    broken = False
    assert await retry_failed_jobs(database) == 1
    await worker.drain(timeout=10)
    assert await contents(database) == {"tea": "Likes green tea"}
    assert await failed_jobs(database) == []


async def test_a_cancelled_worker_gives_its_job_back(
    database: Database, embedder: LocalEmbedder, settings: MemorySettings, queue: MemoryQueue
) -> None:
    started = asyncio.Event()

    async def hanging(turn: Exchange, known: Sequence[KnownMemory], /) -> Sequence[MemoryItem]:
        started.set()
        await asyncio.sleep(60)
        return []

    await queue.enqueue_turn(exchange("Likes green tea"))
    running = asyncio.create_task(make_worker(database, embedder, settings, hanging).run())
    await asyncio.wait_for(started.wait(), 10)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    script = ScriptedExtractor(lambda _: [item("tea", "Likes green tea")])
    await make_worker(database, embedder, settings, script).drain(timeout=10)
    assert await contents(database) == {"tea": "Likes green tea"}


async def test_a_worker_that_is_cancelled_as_it_starts_ends(
    database_url: str, embedder: LocalEmbedder, settings: MemorySettings
) -> None:
    async with Database(database_url, size=1) as database:
        async with database.connection():
            running = asyncio.create_task(make_worker(database, embedder, settings).run())
            while not database.pool.get_stats()["requests_waiting"]:  # noqa: ASYNC110
                await asyncio.sleep(0)
        running.cancel()  # in the same step in which the connection went on to it
        ended, _ = await asyncio.wait([running], timeout=20)
        assert ended


async def test_the_job_of_a_dead_worker_is_taken_up_again(
    database: Database, embedder: LocalEmbedder, settings: MemorySettings, queue: MemoryQueue
) -> None:
    await queue.enqueue_turn(exchange("tea = Likes green tea"))
    await database.execute(
        "WITH dead AS (INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '1 minute')"
        " RETURNING id) UPDATE procrastinate_jobs SET status = 'doing', worker_id = dead.id FROM dead"
    )
    assert await make_worker(database, embedder, settings).drain(timeout=10)
    assert await contents(database) == {"tea": "Likes green tea"}


async def test_a_turn_that_was_queued_again_while_a_dead_worker_held_it_holds_nobody_up(
    database: Database, embedder: LocalEmbedder, settings: MemorySettings, queue: MemoryQueue
) -> None:
    turn = exchange("tea = Likes green tea")
    await queue.enqueue_turn(turn)
    await database.execute(
        "WITH dead AS (INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '1 minute')"
        " RETURNING id) UPDATE procrastinate_jobs SET status = 'doing', worker_id = dead.id FROM dead"
    )
    await queue.enqueue_turn(turn)
    assert await make_worker(database, embedder, settings).drain(timeout=10)
    assert await contents(database) == {"tea": "Likes green tea"}
    assert await database.fetch("SELECT id FROM procrastinate_jobs WHERE task_name = 'remember_turn'") == []


async def test_a_running_worker_takes_a_new_job_at_once(
    database: Database, embedder: LocalEmbedder, settings: MemorySettings, queue: MemoryQueue
) -> None:
    remembered = asyncio.Event()

    def script(turn: Exchange) -> Sequence[MemoryItem]:
        remembered.set()
        return []

    running = asyncio.create_task(make_worker(database, embedder, settings, ScriptedExtractor(script)).run())
    try:
        for _ in range(100):  # until it listens
            rows = await database.fetch("SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
            if rows:
                break
            await asyncio.sleep(0.02)
        await queue.enqueue_turn(exchange("hello there"))
        await asyncio.wait_for(remembered.wait(), 1.5)
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def test_an_older_turn_processed_late_does_not_override_a_newer_one(
    database: Database, embedder: LocalEmbedder, settings: MemorySettings, queue: MemoryQueue
) -> None:
    worker = make_worker(database, embedder, settings)
    await queue.enqueue_turn(exchange("delivery_day = 周六请送货", turn="june", after=timedelta(days=30)))
    await worker.drain(timeout=10)
    await queue.enqueue_turn(exchange("delivery_day = 周六不要送货", turn="may"))
    await worker.drain(timeout=10)
    assert await contents(database) == {"delivery_day": "周六请送货"}
    (old,) = await database.fetch("SELECT content FROM user_memory WHERE superseded_by IS NOT NULL")
    assert old["content"] == "周六不要送货", "kept for audit"


async def test_with_long_term_memory_off_no_model_is_asked(
    database: Database, embedder: LocalEmbedder, queue: MemoryQueue
) -> None:
    extractor = ScriptedExtractor()
    settings = MemorySettings(_env_file=None, steward_long_term_memory="off")
    await queue.enqueue_turn(exchange("tea = Likes green tea"))
    await make_worker(database, embedder, settings, extractor).drain(timeout=10)
    assert extractor.asked == []
    assert await contents(database) == {}
