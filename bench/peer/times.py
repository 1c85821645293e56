"""Seconds of a turn: the first of a thread, the course of a long thread, and many sessions at once."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from statistics import median
from uuid import uuid4

from bench.peer.contestants import Contestant
from bench.peer.words import SHORT, long_text

WARM_UP = 3
"""Turns of each contestant before anything is measured."""
SETTLED = 5
"""Turns at the end of a long thread whose median stands for the last."""

Seconds = dict[str, list[float]]


async def warm_up(contestants: Sequence[Contestant]) -> None:
    for contestant in contestants:
        for _ in range(WARM_UP):
            await contestant.turn(uuid4().hex, SHORT)


async def first_turns(contestants: Sequence[Contestant], runs: int) -> Seconds:
    """The first turn of a fresh thread; each run asks every contestant once, in turn."""
    taken: Seconds = defaultdict(list)
    for run in range(runs):
        for contestant in _rotated(contestants, run):
            taken[contestant.name].append(await _timed(contestant, uuid4().hex, SHORT))
    return taken


async def long_threads(
    contestants: Sequence[Contestant], runs: int, turns: int
) -> dict[str, list[list[float]]]:
    """Threads of so many turns with 1.2 kB of text each; by contestant and run, the seconds of each turn."""
    taken: dict[str, list[list[float]]] = defaultdict(list)
    for _ in range(runs):
        threads = {contestant.name: uuid4().hex for contestant in contestants}
        course: Seconds = defaultdict(list)
        for turn in range(1, turns + 1):
            for contestant in _rotated(contestants, turn):
                seconds = await _timed(contestant, threads[contestant.name], long_text(turn))
                course[contestant.name].append(seconds)
        for name, seconds_by_turn in course.items():
            taken[name].append(seconds_by_turn)
    return taken


def around(course: Sequence[float], turn: int) -> float:
    """Median of the turns around one, so that a hiccup of the machine does not stand for it."""
    start = max(0, min(turn - 1 - SETTLED // 2, len(course) - SETTLED))
    return median(course[start : start + SETTLED])


async def throughput(
    contestants: Sequence[Contestant], runs: int, sessions: int, turns: int
) -> dict[str, list[float]]:
    """Turns a second with so many sessions at once, each of so many turns."""
    rates: dict[str, list[float]] = defaultdict(list)

    async def session(contestant: Contestant) -> None:
        thread_id = uuid4().hex
        for _ in range(turns):
            await contestant.turn(thread_id, SHORT)

    for run in range(runs):
        for contestant in _rotated(contestants, run):
            began = time.perf_counter()
            await asyncio.gather(*(session(contestant) for _ in range(sessions)))
            rates[contestant.name].append(sessions * turns / (time.perf_counter() - began))
    return rates


def ratio(values: Seconds, name: str, other: str, pick: Callable[[float], float] = float) -> float:
    """Median over the runs of one contestant's figure by another's of the same run."""
    return median(pick(a) / pick(b) for a, b in zip(values[name], values[other], strict=True))


async def _timed(contestant: Contestant, thread_id: str, text: str) -> float:
    began = time.perf_counter()
    await contestant.turn(thread_id, text)
    return time.perf_counter() - began


def _rotated(contestants: Sequence[Contestant], by: int) -> list[Contestant]:
    by %= len(contestants)
    return [*contestants[by:], *contestants[:by]]
