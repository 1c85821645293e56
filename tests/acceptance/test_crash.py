"""Processes killed in mid-turn, and random models, tools and customers: a small size of the two benches."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bench.fuzz.run import Result, fuzzing, play_histories
from tests.support.processes import ROOT, environment


def bench(folder: Path, *command: str) -> str:
    """Run a bench to its end; what it says. Fails where an invariant is broken."""
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        env={**environment(folder, {}), "TMPDIR": os.environ.get("TMPDIR", "/tmp")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_killed_turns_lose_nothing_and_do_nothing_twice(tmp_path: Path) -> None:
    assert "\n0 violations" in bench(tmp_path, "bench.kill", "--kills", "10", "--seed", "7")


def test_sessions_on_a_database_that_is_restarted_end_every_turn(tmp_path: Path) -> None:
    said = bench(tmp_path, "bench.soak", "--sessions", "3", "--seconds", "5", "--restart-every", "2")
    assert "2 restarts of Postgres" in said
    assert "; 0 faults" in said


async def test_whatever_model_tools_and_customers_do_the_thread_stays_valid(
    tmp_path: Path, database_url: str
) -> None:
    result = Result()
    play_histories(7, 400, result)
    async with fuzzing(tmp_path, 7, result, database_url) as fuzz:
        await fuzz.inputs(25, print)
        await fuzz.conversations(15, print)
    assert result.faults == []
    assert (result.histories, result.inputs, result.conversations) == (400, 25, 15)
