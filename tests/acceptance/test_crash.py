"""Processes killed in mid-turn, and random models, tools and customers: a small size of the two benches."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bench.fuzz import run
from tests.support.processes import ROOT, environment


def test_killed_turns_lose_nothing_and_do_nothing_twice(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.kill", "--kills", "10", "--seed", "7"],
        cwd=ROOT,
        env={**environment(tmp_path, {}), "TMPDIR": os.environ.get("TMPDIR", "/tmp")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "\n0 violations" in done.stdout


def test_whatever_model_tools_and_customers_do_the_thread_stays_valid(
    tmp_path: Path, database_url: str
) -> None:
    run(tmp_path, examples=15, inputs=15, database_url=database_url)
