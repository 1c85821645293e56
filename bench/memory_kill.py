"""Random SIGKILLs of the processes that queue and process turns: is anything lost, or doubled?

    python -m bench.memory_kill [--turns 1000] [--kills 200] [--seed 1]

DATABASE_URL names an empty database of its own; none: a fresh embedded one in a temporary folder.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from pathlib import Path

import memory
from memory.database import Database
from memory.embedded import EmbeddedPostgres
from memory.migrate import migrate
from tests.support.killing import finish, kill_at_random


async def prepare(url: str) -> None:
    async with Database(url, size=1) as database:
        await migrate(database, [("memory", Path(str(memory.__file__)).parent / "migrations")])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        server = EmbeddedPostgres(Path(home))
        url = os.environ.get("DATABASE_URL") or server.start()
        try:
            asyncio.run(prepare(url))
            started = time.monotonic()
            kills = kill_at_random(url, turns=arguments.turns, kills=arguments.kills, seed=arguments.seed)
            counts = asyncio.run(finish(url))
        finally:
            server.release()
    print(f"{kills} kills, {arguments.turns} turns, {time.monotonic() - started:.0f} s")
    print(f"memories: {counts.rows}, of them different: {counts.things}, valid: {counts.valid}")
    lost, doubled = arguments.turns - counts.things, counts.rows - counts.things
    print(f"lost: {lost}, doubled: {doubled}")


if __name__ == "__main__":
    main()
