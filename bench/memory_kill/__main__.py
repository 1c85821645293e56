"""SIGKILL at random of graph and worker processes while turns are served: no memory lost, none doubled.

    python -m bench.memory_kill --turns 1000 --kills 200 --seed 1

Two processes serve the turns of 24 threads, two others extract and write; any of the four may be the next to die.
Children are forked from a parent that has imported everything. Half of the turns that were cut off are resumed, the
others are left to the thread's next message. The same seed plays the same kills (the machine decides the exact
moment). Ends with exit code 1 where something was lost or doubled.

DATABASE_URL names an empty database of its own; none: a fresh embedded one in a temporary folder.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from bench.memory_kill.run import MemoryKillRun, summary


def main() -> int:
    """Run the kills and print what came of them."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.memory_kill", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    url = os.environ.get("DATABASE_URL")
    with tempfile.TemporaryDirectory() as home, MemoryKillRun(Path(home), arguments.seed, url) as run:
        result = run.play(arguments.turns, arguments.kills, progress=lambda text: print(text, flush=True))
    print(summary(result))
    return 1 if result.violations else 0


if __name__ == "__main__":
    sys.exit(main())
