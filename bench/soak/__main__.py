"""Customers at once, Postgres restarted beneath them, model requests failing: every turn ends, nothing is lost.

    python -m bench.soak --sessions 16 --seconds 600 --restart-every 60 --failing 0.05 --seed 1

A customer whose turn ends in an error of the house (the database is away) sends the message again under its id, as a
client does. Ends with exit code 1 where a turn ended in neither an answer nor an apology, or something is lost or
done twice.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import tempfile
from pathlib import Path

from bench.soak.run import Plan, Result, soak


def main() -> int:
    """Soak on a fresh embedded database and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__.partition("\n")[0])
    parser.add_argument("--sessions", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--restart-every", type=float, default=60, help="seconds")
    parser.add_argument("--failing", type=float, default=0.05, help="share of model requests")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    plan = Plan(**vars(arguments))
    logging.disable(logging.ERROR)  # what fails here fails on purpose
    with tempfile.TemporaryDirectory() as home:
        result = asyncio.run(soak(plan, Path(home), lambda text: print(text, flush=True)))
    print(summary(plan, result))
    return 1 if result.told.faults else 0


def summary(plan: Plan, result: Result) -> str:
    """The run in some lines."""
    told = result.told
    ends = ", ".join(f"{count} {how}" for how, count in told.turns.most_common())
    again = ", ".join(f"{count} after {error}" for error, count in told.sent_again.most_common()) or "none"
    return "\n".join(
        [
            f"{sum(told.turns.values())} turns of {plan.sessions} sessions in {result.seconds:.0f} s: {ends}",
            f"{result.restarts} restarts of Postgres; sent again: {again}; the slowest turn took {told.slowest:.1f} s",
            f"{result.effects} side effects; {len(told.faults)} faults",
            *told.faults[:40],
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
