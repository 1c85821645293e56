"""Random stored histories, customer inputs, model messages and tool outcomes: no invalid request, no stack trace.

    python -m bench.fuzz --histories 2000 --inputs 200 --conversations 200 --seed 1 [--start N]

Histories are planned, rendered and written as a request that is checked in this process as a strict endpoint reads
it. Inputs and conversations run through the whole graph on real Postgres, against a strict endpoint over HTTP. Exit
code 1 where something does not hold; the seed, the kind and the number that are told play it again (`--start`, with a
count of one).
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import tempfile
import time
from pathlib import Path

from bench.fuzz.run import Result, fuzzing, play_histories


async def play(arguments: argparse.Namespace, home: Path, result: Result) -> None:
    """Everything that the arguments ask for."""
    began = time.monotonic()

    def progress(text: str) -> None:
        print(f"{text}, {time.monotonic() - began:.0f} s", flush=True)

    step = 10_000
    for done in range(0, arguments.histories, step):
        count = min(step, arguments.histories - done)
        play_histories(arguments.seed, count, result, start=arguments.start + done)
        progress(f"{result.histories} histories")
    if arguments.inputs or arguments.conversations:
        async with fuzzing(home, arguments.seed, result) as fuzz:
            await fuzz.inputs(arguments.inputs, progress, start=arguments.start)
            await fuzz.conversations(arguments.conversations, progress, start=arguments.start)


def main() -> int:
    """Fuzz on a fresh database and print what was played."""
    parser = argparse.ArgumentParser(prog="python -m bench.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--histories", type=int, default=2000)
    parser.add_argument("--inputs", type=int, default=200)
    parser.add_argument("--conversations", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0, help="number of the first of each kind")
    arguments = parser.parse_args()
    logging.disable(logging.ERROR)  # what goes wrong here goes wrong on purpose
    result = Result()
    with tempfile.TemporaryDirectory() as home:
        asyncio.run(play(arguments, Path(home), result))
    print(
        f"{result.histories} histories, {result.inputs} inputs ({result.refused} told to be none), "
        f"{result.conversations} conversations: {len(result.faults)} faults",
        *result.faults[:40],
        sep="\n",
    )
    return 1 if result.faults else 0


if __name__ == "__main__":
    sys.exit(main())
