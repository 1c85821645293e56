"""Graph and worker processes are killed at random: nothing is lost, nothing doubled. A small size of the bench."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.processes import ROOT, environment


def test_sigkill_of_graphs_and_workers_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.memory_kill", "--turns", "60", "--kills", "6", "--seed", "7"],
        cwd=ROOT,
        env={**environment(tmp_path, {}), "TMPDIR": os.environ.get("TMPDIR", "/tmp")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "\n0 violations" in done.stdout
