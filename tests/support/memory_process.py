"""A process that may be killed at any moment: one that queues turns, or one that works on them.

python -m tests.support.memory_process write URL FIRST TOTAL     says each number once it is queued
python -m tests.support.memory_process work URL
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Sequence
from datetime import timedelta

from memory.database import Database
from memory.extraction import Exchange, KnownMemory, MemoryItem
from memory.queue import MemoryQueue
from memory.settings import MemorySettings
from memory.worker import Worker
from tests.support.memory import ScriptedSummariser, exchange, literal
from tests.support.word_embedder import WordEmbedder

USERS = 12


def turn(number: int) -> Exchange:
    """The number-th turn, which leaves exactly one memory of its own."""
    user = f"user {number % USERS}"
    return exchange(
        f"thing_{number} = Owns thing number {number}",
        user=user,
        thread=f"thread of {user}",
        turn=f"turn {number}",
        after=timedelta(seconds=number),
    )


async def slow_extractor(turn: Exchange, known: Sequence[KnownMemory], /) -> Sequence[MemoryItem]:
    await asyncio.sleep(random.uniform(0, 0.05))
    return literal(turn)


def make_worker(database: Database) -> Worker:
    settings = MemorySettings(_env_file=None, steward_idle_seconds=3600)
    return Worker(database, WordEmbedder(), slow_extractor, ScriptedSummariser(), settings)


async def write(database: Database, first: int, total: int) -> None:
    queue = MemoryQueue(database)
    for number in range(first, total):
        await queue.enqueue_turn(turn(number))
        print(number, flush=True)  # noqa: T201 - this is how the parent knows
        await asyncio.sleep(0.002)


async def main() -> None:
    task, url, *numbers = sys.argv[1:]
    async with Database(url, size=4) as database:
        if task == "write":
            await write(database, *map(int, numbers))
        else:
            print("working", flush=True)  # noqa: T201
            await make_worker(database).run()


if __name__ == "__main__":
    asyncio.run(main())
