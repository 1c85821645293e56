"""The parent: forks, kills, forks again, and counts at the end what is remembered."""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from bench.kill.business import BUSINESS
from bench.kill.processes import Child, ModelProcess, fork
from bench.memory_kill.children import THREADS, message_id, script, serve, work
from bench.memory_kill.count import faults
from graph.open import open_agent
from graph.settings import Settings
from memory.embedded import EmbeddedPostgres
from memory.embeddings import make_embedder

GRAPHS = 2
WORKERS = 2
LONGEST_TURN = 0.12
"""Seconds after which a kill that waits for its moment comes, at most; about one turn."""
PATIENCE = 20.0
"""Seconds to wait for turns to get on before the next kill."""
LONGEST = 300.0
"""Seconds in which all processes together make no headway before the run is given up."""


@dataclass
class Result:
    """What came of a run."""

    turns: int
    kills: Counter[str] = field(default_factory=Counter)
    """By what was killed."""
    violations: list[str] = field(default_factory=list)
    seconds: float = 0.0


class Lane:
    """One graph process and the turns it has to serve, in order; a new process goes on where it died."""

    def __init__(self, settings: Settings, numbers: Sequence[int]) -> None:
        self._settings = settings
        self._numbers = numbers
        self._before = 0
        self._start(go_on=False)

    @property
    def done(self) -> int:
        return self._before + self.child.told(b"t")

    @property
    def is_finished(self) -> bool:
        return self.done == len(self._numbers)

    def kill(self, go_on: bool) -> None:
        self.child.wait_for(b"r")
        self.child.signal(signal.SIGKILL)
        self._before = self.done
        self.child.end()
        self._start(go_on)

    def _start(self, go_on: bool) -> None:
        left = self._numbers[self._before :]
        self.child = fork(lambda beacon: serve(self._settings, left, go_on, beacon))


class MemoryKillRun:
    """A database, a model endpoint, and processes on them that die."""

    def __init__(self, home: Path, seed: int, database_url: str | None = None) -> None:
        self._home = home
        self._chance = random.Random(seed)
        self._given_url = database_url

    def __enter__(self) -> Self:
        self._model = ModelProcess(script).__enter__()
        self._postgres = None if self._given_url else EmbeddedPostgres(self._home)
        self._settings = Settings(
            _env_file=None,  # type: ignore[call-arg]
            database_url=self._given_url or (self._postgres.start() if self._postgres else ""),
            steward_home=self._home,
            steward_worker="external",
            steward_local_router="off",
            **self._model.settings(),  # type: ignore[arg-type]
        )
        asyncio.run(self._prepare())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._model.__exit__(kind, error, trace)
        if self._postgres:
            self._postgres.release()

    def play(self, turns: int, kills: int, progress: Callable[[str], object] | None = None) -> Result:
        """Have so many turns served while so many processes are killed, evenly spread, then count."""
        result = Result(turns)
        began = time.monotonic()
        lanes = [Lane(self._settings, range(first, turns, GRAPHS)) for first in range(GRAPHS)]
        workers = [self._worker() for _ in range(WORKERS)]
        try:
            for kill in range(kills):
                self._until(lanes, kill * turns // kills, PATIENCE)
                time.sleep(self._chance.uniform(0, LONGEST_TURN))
                self._kill_one(lanes, workers, result)
                if progress and (kill + 1) % 25 == 0:
                    done, seconds = sum(lane.done for lane in lanes), time.monotonic() - began
                    progress(f"{kill + 1} kills, {done} turns, {seconds:.0f} s")
            if not self._until(lanes, turns, LONGEST):
                result.violations.append("turns are left that nobody has served")
        finally:
            for child in [*workers, *(lane.child for lane in lanes)]:
                child.end(signal.SIGKILL)
        # What was cut off and left to the thread's next message meets that message now.
        last = fork(lambda pipe: serve(self._settings, range(turns, turns + THREADS), False, pipe))
        if last.end() != 0:
            result.violations.append("a thread could not be taken up again (see above)")
        result.violations += asyncio.run(self._count(turns + THREADS))
        result.violations += [f"the model endpoint refused: {fault}" for fault in self._model.faults()]
        result.seconds = time.monotonic() - began
        return result

    def _kill_one(self, lanes: Sequence[Lane], workers: list[Child], result: Result) -> None:
        number = self._chance.randrange(GRAPHS + WORKERS)
        go_on = self._chance.random() < 0.5
        if number < GRAPHS and not lanes[number].is_finished:
            lanes[number].kill(go_on)
            result.kills["graph"] += 1
            return
        at = number % WORKERS
        workers[at].wait_for(b"r")
        workers[at].end(signal.SIGKILL)
        workers[at] = self._worker()
        result.kills["worker"] += 1

    @staticmethod
    def _until(lanes: Sequence[Lane], turns: int, seconds: float) -> bool:
        """Whether so many turns were served; gives up once none was for so many seconds."""
        done, since = -1, time.monotonic()
        while (now := sum(lane.done for lane in lanes)) < turns:
            if now > done:
                done, since = now, time.monotonic()
            if time.monotonic() - since > seconds:
                return False
            time.sleep(0.002)
        return True

    def _worker(self) -> Child:
        return fork(lambda beacon: work(self._settings, beacon))

    async def _prepare(self) -> None:
        """Migrations, and everything that takes long to load: children inherit it."""
        await make_embedder(self._settings).embed(["warm"])
        async with open_agent(self._settings, BUSINESS):
            pass

    async def _count(self, turns: int) -> list[str]:
        async with open_agent(self._settings, BUSINESS) as agent:
            return await faults(agent, [f"turn-{message_id(number)}" for number in range(turns)])


def summary(result: Result) -> str:
    """The run in some lines."""
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(result.kills.items()))
    lines = [
        f"{result.turns} turns, {result.kills.total()} kills ({kinds}) in {result.seconds:.0f} s",
        f"{len(result.violations)} violations",
        *result.violations[:40],
    ]
    return "\n".join(lines)
