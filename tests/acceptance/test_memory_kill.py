"""Processes are killed at random; no memory is lost, and none is doubled."""

from __future__ import annotations

import asyncio

from tests.support.killing import Counts, finish, kill_at_random

TURNS, KILLS = 120, 6


async def test_sigkill_of_writers_and_workers_loses_nothing_and_doubles_nothing(database_url: str) -> None:
    await asyncio.to_thread(kill_at_random, database_url, turns=TURNS, kills=KILLS, seed=7)
    assert await finish(database_url) == Counts(rows=TURNS, things=TURNS, valid=TURNS)
