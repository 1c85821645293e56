"""Kills processes of the memory pipeline at random while turns are queued and processed, and counts what is left."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import threading
from dataclasses import dataclass, field

from memory.database import Database
from memory.queue import REMEMBER_TURN
from tests.support.memory_process import make_worker

COUNT = """
SELECT count(*) AS rows, count(DISTINCT content) AS things,
       count(*) FILTER (WHERE superseded_by IS NULL) AS valid FROM user_memory
"""


WAITING = "SELECT id FROM procrastinate_jobs WHERE task_name = %s AND status IN ('todo', 'doing') LIMIT 1"


@dataclass
class Process:
    """One process, and what it said."""

    arguments: list[str]
    said: list[str] = field(default_factory=list)
    ready: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        command = [sys.executable, "-m", "tests.support.memory_process", *self.arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line.strip())
            self.ready.set()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@dataclass(frozen=True)
class Counts:
    """What is left after everything was processed."""

    rows: int
    things: int
    valid: int


def kill_at_random(url: str, *, turns: int, kills: int, seed: int) -> int:
    """Queue and process turns while processes die; how many kills there were before all was queued."""
    chance = random.Random(seed)
    writer = Process(["write", url, "0", str(turns)])
    workers = [Process(["work", url]) for _ in range(2)]
    done = 0
    try:
        while done < kills:
            victim = chance.choice([writer, *workers])
            victim.ready.wait(60)
            chance_to_work = chance.uniform(0, 0.4)
            threading.Event().wait(chance_to_work)
            victim.kill()
            done += 1
            if victim is writer:
                # what was queued without a word said is queued again, as a resumed turn does
                first = int(writer.said[-1]) if writer.said else 0
                writer = Process(["write", url, str(first), str(turns)])
            else:
                workers[workers.index(victim)] = Process(["work", url])
        writer.process.wait(300)
    finally:
        for process in [writer, *workers]:
            process.kill()
    return done


async def finish(url: str) -> Counts:
    """Process what is left, jobs that wait for another try included, then count."""
    async with Database(url, size=4) as database, asyncio.timeout(300):
        while await database.fetch_one(WAITING, (REMEMBER_TURN,)):
            await make_worker(database).drain()
            await asyncio.sleep(0.2)
        row = await database.fetch_one(COUNT)
        assert row is not None
        return Counts(**row)
