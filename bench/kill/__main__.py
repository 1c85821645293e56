"""SIGKILL at random points of turns, then the threads are taken up again: nothing lost, nothing done twice.

    python -m bench.kill --kills 200 --seed 1 [--kinds tools,approval,review,memory] [--start CASE]

Children are forked from a parent that has imported everything; each opens the agent on the shared Postgres. Every
other thread is taken up by the customer's next message, the others by resuming the checkpoint. Ends with exit code 1
where an invariant is broken, and names the case: the same seed and case number play it again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from bench.kill.case import KINDS
from bench.kill.run import KillRun, summary


def main() -> int:
    """Run the kills and print what came of them."""
    parser = argparse.ArgumentParser(prog="python -m bench.kill", description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS), help=f"out of {', '.join(KINDS)}")
    parser.add_argument("--start", type=int, default=0, help="number of the first case")
    arguments = parser.parse_args()
    kinds = arguments.kinds.split(",")
    if unknown := set(kinds) - set(KINDS):
        parser.error(f"unknown kinds: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as home, KillRun(Path(home), arguments.seed, kinds) as run:
        result = run.until(
            arguments.kills, start=arguments.start, progress=lambda text: print(text, flush=True)
        )
    print(summary(result))
    return 1 if result.violations else 0


if __name__ == "__main__":
    sys.exit(main())
