"""Times recalls and writes in a database that `bench.scale.fill` has filled."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from memory.database import Connection, Database
from memory.embeddings import Embedder
from memory.memory_writer import MemoryWriter, NewMemory
from memory.recall import RECALL, RecallRequest, recall
from memory.user_lock import lock_user

WANTED = 10
MEMORIES_A_TURN = 3

Person = tuple[str, int]
"""User id, number of memories."""


class TimedDatabase(Database):
    """Notes how long each query took, from sending it to having its row: a little more than the server needs."""

    elapsed: float = 0.0
    busy: float = 0.0
    """Processor time of the server process: what `elapsed` would be on an idle machine."""
    values: Any = None

    async def fetch_one(self, query: str, params: Any = None) -> dict[str, Any] | None:
        async with self.connection() as connection:
            watch = Watch(connection)
            cursor = await connection.execute(query, params)
            row = await cursor.fetchone()
            self.elapsed, self.busy = watch.read()
        self.values = params
        return row


class Watch:
    """Elapsed and processor time of a connection's server process since it was made, in milliseconds."""

    def __init__(self, connection: Connection) -> None:
        self._schedule = Path(f"/proc/{connection.info.backend_pid}/schedstat")
        self._busy = self._processor()
        self._started = time.perf_counter()

    def read(self) -> tuple[float, float]:
        elapsed = 1000 * (time.perf_counter() - self._started)
        return elapsed, self._processor() - self._busy

    def _processor(self) -> float:
        """Nanoseconds on a processor come first; not a number where the server is elsewhere."""
        try:
            return int(self._schedule.read_text().split()[0]) / 1e6
        except OSError:
            return float("nan")


@dataclass
class Times:
    """What one group of users saw."""

    recalls: list[tuple[float, float]] = field(default_factory=list)
    writes: list[tuple[float, float]] = field(default_factory=list)
    """Elapsed and processor milliseconds of each."""
    short: int = 0
    """Recalls that gave fewer rows than there are."""


async def measure(
    database: TimedDatabase,
    embedder: Embedder,
    people: Sequence[Person],
    questions: Sequence[str],
    now: datetime,
    chance: random.Random,
) -> Times:
    """One recall and one turn's writing for each of `people`."""
    times = Times()
    for user, size in people:
        question = chance.choice(questions)
        found = await recall(database, embedder, RecallRequest(user, question, now, k=WANTED, floor=None))
        times.recalls.append((database.elapsed, database.busy))
        times.short += len(found) < min(WANTED, size)
        assert all((memory.thread_id or "").startswith(user) for memory in found), user
        times.writes.append(
            await _write(database, embedder, user, chance.sample(questions, MEMORIES_A_TURN), now)
        )
    return times


async def _write(
    database: Database, embedder: Embedder, user: str, contents: Sequence[str], now: datetime
) -> tuple[float, float]:
    vectors = await embedder.embed(contents)
    memories = [
        NewMemory(f"{uuid4().hex} {number}", content, "fact", now, vector, thread_id=f"{user} new")
        for number, (content, vector) in enumerate(zip(contents, vectors, strict=True))
    ]
    async with database.connection() as connection:
        watch = Watch(connection)
        async with connection.transaction():
            await lock_user(connection, user)
            await MemoryWriter(connection, user, embedder.name).write(memories)
        return watch.read()


async def plan(database: TimedDatabase, embedder: Embedder, user: str, question: str, now: datetime) -> str:
    """How Postgres carries out one recall of the user."""
    await recall(database, embedder, RecallRequest(user, question, now, k=WANTED, floor=None))
    rows = await database.fetch(EXPLAIN + RECALL, database.values)
    return "\n".join(row["QUERY PLAN"] for row in rows)


EXPLAIN = "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) "
