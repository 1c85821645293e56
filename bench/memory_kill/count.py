"""What must hold once everything was processed: each turn remembered once, and what it said kept once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from graph.open import Agent
from memory.queue import REMEMBER_TURN

MEMORIES = "SELECT content, superseded_by IS NULL AS valid FROM user_memory"
TURNS = "SELECT turn_id FROM session_turn"
WAITING = "SELECT id FROM procrastinate_jobs WHERE task_name = %s AND status IN ('todo', 'doing') LIMIT 1"
GIVEN_UP = "SELECT count(*) AS jobs FROM procrastinate_jobs WHERE status = 'failed'"
LONGEST = 300.0


async def faults(agent: Agent, turn_ids: Sequence[str]) -> list[str]:
    """Everything that was lost or doubled, in words, after the queue has run dry; empty when all is well."""
    database = agent.services.database
    async with asyncio.timeout(LONGEST):
        while await database.fetch_one(WAITING, (REMEMBER_TURN,)):
            await agent.worker.drain()
            await asyncio.sleep(0.2)
    turns = Counter(row["turn_id"] for row in await database.fetch(TURNS))
    rows = await database.fetch(MEMORIES)
    kept = Counter(row["content"] for row in rows)
    valid = {row["content"] for row in rows if row["valid"]}
    told = [f"The customer is allergic to plant {number}." for number in range(len(turn_ids))]
    given_up = await database.fetch_one(GIVEN_UP)
    return [
        *(f"{turn} was processed {turns[turn]} times" for turn in turn_ids if turns[turn] != 1),
        *(f"{content!r} is kept {kept[content]} times" for content in told if kept[content] != 1),
        *(f"{content!r} is not valid" for content in told if content not in valid),
        *(f"{content!r} was never said" for content in kept.keys() - set(told)),
        *([f"{given_up['jobs']} jobs were given up"] if given_up and given_up["jobs"] else []),
    ]
