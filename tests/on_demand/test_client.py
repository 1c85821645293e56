"""The real JavaScript client against the real server (`make check-js`), served by the offline model."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.conftest import ROOT
from tests.support.processes import Server, Steward

CHECKS = 6
FOLDER = ROOT / "build/client"
"""Where `make check-js` has installed the client, with the script beside it."""


def test_a_javascript_client_streams_turns_and_settles_approvals(
    tmp_path: Path, module_database_url: str
) -> None:
    with Server(Steward(tmp_path, database_url=module_database_url)) as server:
        done = subprocess.run(
            ["node", "check.js", server.url],
            cwd=FOLDER,
            env={"PATH": os.environ["PATH"], "LANGSMITH_TRACING": "false"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok  ") == CHECKS
