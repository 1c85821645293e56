"""A process that is killed around a side effect leaves a ledger that keeps it from happening twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.database import Database
from tests.support.killed_calls import TABLE, run_call
from tests.support.tool_calls import as_any

ROOT = Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("STEWARD_TEST_KILLS", "20"))


class Children:
    """The process that forks children to be killed."""

    def __init__(self, url: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.killed_calls", url],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        assert self._line() == "ready"

    def run(self, seed: int, point: str = "nowhere", kill_after: float | None = None) -> tuple[int, float]:
        """Run one call in a child, killed so many seconds after it began; what signal ended it, and its seconds."""
        assert self._process.stdin
        self._process.stdin.write(f"{seed} {point} {'never' if kill_after is None else kill_after}\n")
        ended_by, seconds = self._line().split()
        return int(ended_by), float(seconds)

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(timeout=10)

    def _line(self) -> str:
        assert self._process.stdout
        return self._process.stdout.readline().strip()


@pytest.fixture
async def effects(database: Database) -> Database:
    await database.execute(TABLE)
    return database


@pytest.fixture
def children(database_url: str, effects: Database) -> Iterator[Children]:
    running = Children(database_url)
    yield running
    running.close()


async def count_effects(database: Database) -> int:
    (row,) = await database.fetch("SELECT count(*) AS n FROM effect")
    return int(row["n"])


@pytest.mark.parametrize(("point", "done"), [("before", 0), ("after", 1)])
async def test_killed_around_the_effect_it_is_in_doubt_and_not_repeated(
    effects: Database, children: Children, point: str, done: int
) -> None:
    assert children.run(1, point)[0] == signal.SIGKILL
    outcome = await run_call(effects, 1, settles=False)
    assert outcome.envelope["error_kind"] == "in_doubt"
    assert await count_effects(effects) == done


@pytest.mark.parametrize("point", ["before", "after"])
async def test_a_tool_that_can_tell_ends_with_exactly_one_effect(
    effects: Database, children: Children, point: str
) -> None:
    assert children.run(1, point)[0] == signal.SIGKILL
    outcome = await run_call(effects, 1, settles=True)
    assert outcome.envelope["data"] == {"ticket": "T-1"}
    assert await count_effects(effects) == 1


async def test_killed_at_any_moment_nothing_happens_twice(effects: Database, children: Children) -> None:
    moments = random.Random(20240520)
    whole = sorted(children.run(-number)[1] for number in range(1, 4))[1]
    found: Counter[str] = Counter()
    for seed in range(KILLS):
        children.run(seed, kill_after=moments.uniform(0, whole))
        done, outcome = await effects_of(effects, seed), as_any(await run_call(effects, seed, settles=False))
        if outcome.ok:
            assert outcome.envelope["data"] == {"ticket": f"T-{seed}"}
            assert await effects_of(effects, seed) == 1
        else:
            assert outcome.envelope["error_kind"] == "in_doubt"
            assert await effects_of(effects, seed) == done <= 1
        found[f"{outcome.envelope['status']} with {done} done before"] += 1
    assert len(found) >= 2, f"the moments of the kills do not differ: {found}"


async def effects_of(database: Database, seed: int) -> int:
    (row,) = await database.fetch(
        "SELECT count(*) AS n FROM effect JOIN tool_call USING (idempotency_key) WHERE thread_id = %s",
        (f"thread-{seed}",),
    )
    return int(row["n"])
