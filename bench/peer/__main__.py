"""Steward against LangChain's `create_agent`, and against the bare graph, in one run.

    python -m bench.peer [--only first,long,throughput,bytes,stream,start,count] [--runs 5] [--quick]
        [--very-long 500]

All three ask the same endpoint, which answers at once, and write to the same Postgres, each to a database of its own;
they take turns, with durability `async`. Ratios are medians over the runs. The exit code is 1 when a bound is missed.
DATABASE_URL names a server to use; none: an embedded one. Needs the extra `bench`.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from bench.peer.databases import server
from bench.peer.endpoint import Endpoint
from bench.peer.sections import SECTIONS, VERY_LONG, Bench
from bench.trajectories import quiet


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections, separated by commas")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="short threads: to see that it runs")
    parser.add_argument("--very-long", type=int, default=VERY_LONG, help="turns of the longest thread")
    given = parser.parse_args()
    quiet()
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        endpoint = stack.enter_context(Endpoint())
        url = stack.enter_context(server(home))
        bench = Bench(url, home, endpoint, given.runs, quick=given.quick, very_long=given.very_long)
        asyncio.run(_measure(bench, given.only.split(",")))
    print("\n" + bench.report())
    return 0 if bench.within_bounds() else 1


async def _measure(bench: Bench, sections: Sequence[str]) -> None:
    """All in one event loop, since LangChain's client is shared by all loops of a process."""
    for name in sections:
        await SECTIONS[name](bench)


if __name__ == "__main__":
    sys.exit(main())
