"""The command line of `bench.scale`."""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

import memory
from bench import scale
from bench.recall import locomo_facts, memory_zh, read
from bench.scale.fill import fill, zipf_sizes
from bench.scale.measure import Person, TimedDatabase, Times, measure, plan
from memory.embedded import EmbeddedPostgres
from memory.embeddings import Embedder, make_embedder
from memory.migrate import migrate
from memory.settings import MemorySettings

RECALL_MILLISECONDS = 10.0
WRITE_MILLISECONDS = 20.0
NOW = datetime(2024, 6, 1, tzinfo=UTC)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="bench.scale", description=scale.__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--memories", type=int, default=1_000_000)
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--largest", type=int, default=20_000)
    parser.add_argument("--sample", type=int, default=400, help="users measured of each group")
    parser.add_argument("--plan", action="store_true", help="show the plan for the largest user")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        server = EmbeddedPostgres(Path(home))
        try:
            missed = asyncio.run(_run(os.environ.get("DATABASE_URL") or server.start(), arguments))
        finally:
            server.release()
    raise SystemExit(missed)


async def _run(url: str, arguments: argparse.Namespace) -> bool:
    sentences = [row["fact"] for row in read(arguments.data / "locomo/facts.jsonl")]
    sentences += [row["query"] for row in read(arguments.data / "memory_zh/docs.jsonl")]
    questions = [q.text for set in (locomo_facts, memory_zh) for q in set(arguments.data).questions]
    sizes = zipf_sizes(arguments.memories, arguments.users, arguments.largest)
    people = [(f"user {rank}", size) for rank, size in enumerate(sizes, 1)]
    embedder = make_embedder(MemorySettings())
    async with TimedDatabase(url, size=2) as database:
        await migrate(database, [("memory", Path(str(memory.__file__)).parent / "migrations")])
        started = time.perf_counter()
        if await database.fetch_one("SELECT FROM user_memory LIMIT 1") is None:
            await fill(database, embedder, sentences, people, NOW)
        print(
            f"{sum(sizes):,} memories of {len(people):,} users, filled in {time.perf_counter() - started:.0f} s"
        )
        return await _report(database, embedder, people, questions, arguments)


async def _report(
    database: TimedDatabase,
    embedder: Embedder,
    people: Sequence[Person],
    questions: Sequence[str],
    arguments: argparse.Namespace,
) -> bool:
    chance = random.Random(1)
    decile = people[: max(len(people) // 10, 1)]
    groups = {
        "all users": chance.sample(people, min(arguments.sample, len(people))),
        "users drawn by size": chance.choices(people, [size for _, size in people], k=arguments.sample),
        "top decile of users": chance.sample(decile, min(arguments.sample, len(decile))),
        "ten largest": list(people[:10]) * max(arguments.sample // 40, 1),
        "largest": [people[0]] * max(arguments.sample // 10, 1),
    }
    await embedder.embed(questions)
    await measure(database, embedder, people[-20:], questions, NOW, chance)  # connections and plans
    missed = False
    print(f"load {os.getloadavg()[0]:.1f}")
    for name, group in groups.items():
        times = await measure(database, embedder, group, questions, NOW, chance)
        print(_line(name, group, times))
        missed |= times.short > 0
        if name == "all users":
            missed |= _p95(times.recalls) > RECALL_MILLISECONDS
            missed |= _p95(times.writes) > WRITE_MILLISECONDS
    if arguments.plan:
        print(await plan(database, embedder, people[0][0], questions[0], NOW))
    return missed


def _p95(times: Sequence[tuple[float, float]]) -> float:
    """Of the processor time, which other work on the machine changes least; elapsed where the server is elsewhere."""
    return float(np.percentile([elapsed if np.isnan(busy) else busy for elapsed, busy in times], 95))


def _line(name: str, group: Sequence[Person], times: Times) -> str:
    sizes = f"{min(size for _, size in group):,} to {max(size for _, size in group):,} memories"
    figures = f"recall {_figures(times.recalls)}   write {_figures(times.writes)}"
    return f"{name:20} {sizes:26} {figures}   too few rows: {times.short} of {len(group)}"


def _figures(times: Sequence[tuple[float, float]]) -> str:
    """Median and 95th percentile of elapsed and of processor time."""
    (low, low_busy), (high, high_busy) = np.percentile(times, [50, 95], axis=0)
    return f"p50 {low:.1f} p95 {high:.1f} ms (processor {low_busy:.1f}, {high_busy:.1f})"


if __name__ == "__main__":
    main()
