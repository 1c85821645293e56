"""Conflicting statements through queue, worker and Postgres: at least 95 % of the cases must end right.

    python -m bench.conflicts [--set cases.jsonl …] [--wrong]

The extractor's answers are scripted as a model gives them: other keys for the same thing, one key for two things,
languages mixed. Each case is played in the order said, and again with its newest statement processed first.
Each set was written after those before it, and tried before anything was changed on its account (the page on memory
gives that first figure). `--wrong` prints what went wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import memory
from bench.conflicts.play import Outcome, play, read_cases
from graph.logs import hand_logs_to_host
from memory.database import Database
from memory.embedded import EmbeddedPostgres
from memory.embeddings import LocalEmbedder
from memory.migrate import migrate

BOUND = 0.95
SETS = (
    "cases.jsonl",
    "later.jsonl",
    "third.jsonl",
    "fourth.jsonl",
    "fifth.jsonl",
    "sixth.jsonl",
    "seventh.jsonl",
    "eighth.jsonl",
    "ninth.jsonl",
    "tenth.jsonl",
    "eleventh.jsonl",
    "twelfth.jsonl",
    "thirteenth.jsonl",
)


def main() -> int:
    """Play the sets and print the shares that ended right, by kind."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.conflicts", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--set", action="append", help="a file of this folder; all when left out")
    parser.add_argument("--wrong", action="store_true")
    arguments = parser.parse_args()
    reached = True
    hand_logs_to_host()
    with tempfile.TemporaryDirectory() as home:
        server = EmbeddedPostgres(Path(home))
        url = server.start()
        try:
            for name in arguments.set or SETS:
                outcomes = asyncio.run(_played(url, name))
                reached = report(name, outcomes, wrong=arguments.wrong) and reached
        finally:
            server.release()
    return 0 if reached else 1


async def _played(url: str, name: str) -> list[Outcome]:
    async with Database(url, size=6) as database:
        await migrate(database, [("memory", Path(str(memory.__file__)).parent / "migrations")])
        await database.execute("TRUNCATE user_memory, user_memory_version, session_turn, session_memory")
        return await play(database, LocalEmbedder(), read_cases(name))


def report(name: str, outcomes: Sequence[Outcome], *, wrong: bool) -> bool:
    """Print one set; whether it reaches the bound."""
    right = Counter(outcome.case.kind for outcome in outcomes if outcome.is_right)
    all_of = Counter(outcome.case.kind for outcome in outcomes)
    share = right.total() / all_of.total()
    kinds = ", ".join(f"{kind} {right[kind]}/{all_of[kind]}" for kind in all_of)
    print(f"{name}: {right.total()} of {all_of.total()} end right ({share:.1%}); {kinds}")
    for outcome in outcomes if wrong else ():
        if not outcome.is_right:
            told = " -> ".join(f"{told.key}: {told.content}" for told in outcome.case.told)
            print(
                f"  {outcome.case.kind}{' (late)' if outcome.late else ''}: {told}\n      valid: {outcome.valid}"
            )
    return share >= BOUND


if __name__ == "__main__":
    sys.exit(main())
