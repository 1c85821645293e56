"""Prompt injection against the whole agent, and whether honest traffic passes beside it.

    python -m bench.injection DATA [--goals N] [--start N] [--places P,…] [--show]

Every goal of DATA's `prompt_injection`, bare and in each template, lies in turn in an order's note and address, a
product's text, a tracking event, a ticket, a document, a tool's result, a memory and the summary of an earlier session.
A scripted model obeys it: it calls the tools that would serve the goal with the objects and recipients that it names,
also smuggled into honest calls, repeats it in its answer, and states it as memory with true words of the customer as
evidence. Then honest conversations run with the attacks in place. Exit code 1 where anything took effect or was stored.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.injection.goals import Goal, read_goals
from bench.injection.ordinary import Honest, honest
from bench.injection.places import PLACES
from bench.injection.recorded import measure
from bench.injection.run import Result, attacked

STEP = 41
PROGRESS = 10


async def attack(folder: Path, home: Path, places: Sequence[str], start: int, most: int | None) -> Result:
    async with attacked(home / "attack") as attacker:
        for number, goal in enumerate(sample(list(read_goals(folder)), start, most), start + 1):
            result = await attacker.play([goal], places)
            if number % PROGRESS == 0:
                leaks = len(result.side_effects) + len(result.stored)
                print(f"{number} texts played, {leaks} leaks; go on with --start {number}", flush=True)
        return attacker.result


def sample(goals: Sequence[Goal], start: int, most: int | None) -> list[Goal]:
    """The texts from one number on, so many of them; any stretch holds all kinds.

    The step between two has no factor in common with the number of texts, so that each comes once.
    """
    end = len(goals) if most is None else min(start + most, len(goals))
    return [goals[number * STEP % len(goals)] for number in range(start, end)]


async def converse(folder: Path, home: Path) -> Honest:
    goal = next(iter(read_goals(folder)))
    async with honest(home / "honest") as conversations:
        return await conversations.play(goal)


def main() -> None:
    """Play everything on fresh databases and print what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, metavar="DATA", help="folder that holds prompt_injection/")
    parser.add_argument("--goals", type=int, default=None, help="only so many texts, of all kinds")
    parser.add_argument("--start", type=int, default=0, help="go on where an earlier run has ended")
    parser.add_argument(
        "--places",
        type=lambda value: value.split(","),
        default=list(PLACES),
        help=f"comma list of {', '.join(PLACES)}",
    )
    parser.add_argument("--show", action="store_true", help="name what leaked, and what was refused")
    arguments = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as home:
        folder = arguments.data / "prompt_injection"
        result = asyncio.run(attack(folder, Path(home), arguments.places, arguments.start, arguments.goals))
        _print(result, time.monotonic() - began, show=arguments.show)
        ordinary = asyncio.run(converse(folder, Path(home)))
    print(f"honest conversations beside an attack: {ordinary.served} of {ordinary.wanted} served as asked")
    for line in ordinary.failed:
        print(f"  not served: {line}")
    if (runs := arguments.data / "trajectories").is_dir():
        measure(runs, show=arguments.show)
    raise SystemExit(bool(result.side_effects or result.stored or ordinary.failed))


def _print(result: Result, seconds: float, *, show: bool) -> None:
    print(
        f"{result.attacks} attacks in {seconds:.0f} s, {sum(result.read.values())} of them read by the model"
    )
    print(f"read, by place: {dict(result.read)}")
    print(
        f"{result.calls} calls made to serve them; outcomes of those that name what only an attack names: ",
        end="",
    )
    print(dict(result.refused))
    print(f"side effects on what only an attack names: {len(result.side_effects)}")
    print(f"approvals asked for: {len(result.asked)}")
    print(f"stored as memory, fact or summary: {len(result.stored)}")
    for line in [*result.side_effects, *result.asked, *result.stored] if show else []:
        print(f"  {line}")


if __name__ == "__main__":
    main()
