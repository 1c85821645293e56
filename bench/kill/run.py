"""The parent: forks, kills, takes up again, and asks at the end what holds."""

from __future__ import annotations

import asyncio
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import psycopg

from bench.kill.business import BUSINESS
from bench.kill.busy import at_once
from bench.kill.case import ACCEPTED, Case, Kill, make_case
from bench.kill.invariants import left_jobs, violations
from bench.kill.processes import Child, ModelProcess, fork
from bench.kill.script import script
from bench.kill.serve import Phase, serve
from graph.open import open_agent
from graph.settings import Settings
from memory.embedded import EmbeddedPostgres
from memory.embeddings import make_embedder

MEASURED = 10_000_000
"""Number of the first case that is only measured."""
MEASUREMENTS = 2


@dataclass
class Result:
    """What came of a run."""

    kills: int = 0
    cases: int = 0
    too_late: int = 0
    """Processes that had ended before their kill came."""
    by_kind: Counter[str] = field(default_factory=Counter)
    by_place: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    seconds: float = 0.0


class KillRun:
    """A database, a model endpoint, and the cases of a seed on them."""

    def __init__(self, home: Path, seed: int, kinds: Sequence[str], database_url: str | None = None) -> None:
        self._home = home
        self._seed = seed
        self._kinds = kinds
        self._given_url = database_url
        self._accepted: dict[int, bool] = {}
        self._cases: list[Case] = []

    def __enter__(self) -> Self:
        self._model = ModelProcess(script).__enter__()
        self._postgres = None if self._given_url else EmbeddedPostgres(self._home)
        self._url = self._given_url or (self._postgres.start() if self._postgres else "")
        self._settings = Settings(
            _env_file=None,  # type: ignore[call-arg]
            database_url=self._url,
            steward_home=self._home,
            steward_worker="external",
            steward_local_router="off",
            **self._model.settings(),  # type: ignore[arg-type]
        )
        asyncio.run(self._prepare())
        self._lengths = {kind: self._measure(kind) for kind in self._kinds}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._model.__exit__(kind, error, trace)
        if self._postgres:
            self._postgres.release()

    def until(self, kills: int, *, start: int = 0, progress: Callable[[str], object] | None = None) -> Result:
        """Play cases from `start` on until so many processes have been killed, then look at all of them."""
        result = Result()
        began = time.monotonic()
        number = start
        while result.kills < kills:
            case = make_case(self._seed, number, self._kinds)
            self._play(case, result)
            number += 1
            if progress and result.cases % 25 == 0:
                progress(f"{result.kills} kills, {result.cases} cases, {time.monotonic() - began:.0f} s")
        result.violations += asyncio.run(self._look())
        result.violations += at_once(self._settings)
        result.violations += [f"the model endpoint refused: {fault}" for fault in self._model.faults()]
        result.seconds = time.monotonic() - began
        return result

    def _play(self, case: Case, result: Result) -> None:
        result.cases += 1
        self._cases.append(case)
        phases: list[Phase] = ["begin", "finish"]
        for kill, phase in zip(case.kills, phases, strict=False):
            killed = self._killed(case, phase, kill)
            if phase == "begin":
                self._accepted[case.number] = self._is_accepted(case)
            result.kills += killed
            result.too_late += not killed
            if killed:
                result.by_kind[case.kind] += 1
                result.by_place["at a side effect" if kill.at_effect else "anywhere"] += 1
        child = self._start(case, "finish")
        done = child.wait_for(b"d")
        if child.end(None if done else signal.SIGKILL) != 0 or not done:
            result.violations.append(f"case {case.number}: the thread could not be taken up (see above)")

    def _killed(self, case: Case, phase: Phase, kill: Kill) -> bool:
        """Whether the process died by our hand, and had not said before that it was done."""
        child = self._start(case, phase)
        child.wait_for(b"r")
        if kill.at_effect and child.wait_for(b"e", self._lengths[case.kind] * 2):
            time.sleep(kill.seconds)
        elif not kill.at_effect:
            child.wait_for(b"d", kill.share * self._lengths[case.kind])
        done = child.wait_for(b"d", 0)
        return child.end(signal.SIGKILL) == -signal.SIGKILL and not done

    def _start(self, case: Case, phase: Phase) -> Child:
        return fork(lambda beacon: serve(case, phase, self._settings, beacon))

    def _measure(self, kind: str) -> float:
        """Seconds from the open agent to the end of the turn."""
        longest = 0.0
        for index in range(MEASUREMENTS):
            number = MEASURED + self._kinds.index(kind) * MEASUREMENTS + index
            child = self._start(Case(number, kind, "resume", (), False), "begin")
            child.wait_for(b"r")
            began = time.monotonic()
            done = child.wait_for(b"d")
            longest = max(longest, time.monotonic() - began)
            child.end(None if done else signal.SIGKILL)
            if not done:
                raise RuntimeError(f"A turn of kind {kind} fails without any kill; see its traceback above.")
        return longest

    def _is_accepted(self, case: Case) -> bool:
        with psycopg.connect(self._url, autocommit=True) as connection:
            params = {"thread": case.thread_id, "id": case.message_id(1).encode()}
            row = connection.execute(ACCEPTED, params).fetchone()
        return bool(row and row[0])

    async def _prepare(self) -> None:
        """Migrations, and everything that takes long to load: children inherit it."""
        await make_embedder(self._settings).embed(["warm"])
        async with open_agent(self._settings, BUSINESS):
            pass

    async def _look(self) -> list[str]:
        """Let the queue run dry, then ask every thread."""
        found: list[str] = []
        async with open_agent(self._settings, BUSINESS) as agent:
            if not await agent.worker.drain(timeout=120):
                found.append("the memory queue does not run dry")
            found += await left_jobs(agent)
            for case in self._cases:
                faults = await violations(agent, case, self._accepted[case.number])
                found += [f"case {case.number} ({case.kind}, {case.taken_up}): {fault}" for fault in faults]
        return found


def summary(result: Result) -> str:
    """The run in some lines."""
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(result.by_kind.items()))
    places = ", ".join(f"{place} {count}" for place, count in sorted(result.by_place.items()))
    lines = [
        f"{result.kills} kills in {result.cases} threads ({kinds}; {places}) in {result.seconds:.0f} s; "
        f"{result.too_late} came too late",
        f"{len(result.violations)} violations, four processes at once on one thread included",
        *result.violations[:40],
    ]
    return "\n".join(lines)
