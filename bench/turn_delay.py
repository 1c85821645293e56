"""Does remembering delay an answer? Turns whose extractor takes 2 s against turns whose extractor answers at once.

    python -m bench.turn_delay [--pairs 50] [--seconds 2]

Both kinds alternate in one process whose worker runs beside the agent, as on one machine; the model endpoint is a
process of its own. The difference of the medians must stay under 20 ms, else the exit code is 1. DATABASE_URL names an
empty database; none: a fresh embedded one in a temporary folder.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.kill.business import BUSINESS
from bench.kill.processes import ModelProcess
from bench.kill.script import script as answers
from bench.kill.script import wish
from graph.open import Agent, open_agent
from graph.settings import Settings
from memory.embedded import EmbeddedPostgres
from nodes.context import AgentContext
from tests.support.model_replies import Reply, Request
from tests.support.model_server import Script, role_of

BOUND = 0.020
WARM_UP = 6
SLOW = "slow"


def main() -> int:
    """Run the pairs and print medians and their difference."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.turn_delay", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=2.0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, ModelProcess(slow_extractor(arguments.seconds)) as model:
        server = EmbeddedPostgres(Path(home))
        settings = Settings(
            _env_file=None,  # type: ignore[call-arg]
            database_url=os.environ.get("DATABASE_URL") or server.start(),
            steward_home=Path(home),
            steward_worker="inline",
            steward_local_router="off",
            **model.settings(),  # type: ignore[arg-type]
        )
        try:
            quick, slow = asyncio.run(measure(settings, arguments.pairs))
        finally:
            server.release()
    moved = statistics.median(slow) - statistics.median(quick)
    load = os.getloadavg()[0]
    print(
        f"{arguments.pairs} pairs, load {load:.1f}; extractor at once: {_told(quick)}; "
        f"{arguments.seconds:g} s: {_told(slow)}; the median moved by {moved * 1000:+.1f} ms"
    )
    return 0 if moved < BOUND else 1


def slow_extractor(seconds: float) -> Script:
    """The endpoint's script: extractions of customers called slow take so many seconds."""

    def script(request: Request) -> Reply:
        reply = answers(request)
        late = role_of(request) == "extractor" and SLOW in str(request["messages"])
        return replace(reply, delay=seconds) if late else reply

    return script


async def measure(settings: Settings, pairs: int) -> tuple[list[float], list[float]]:
    """Seconds of each turn, of the quick ones and of the slow ones."""
    times: dict[bool, list[float]] = {False: [], True: []}
    async with open_agent(settings, BUSINESS) as agent:
        for number in range(WARM_UP):
            await turn(agent, number, slow=False)
        for pair in range(pairs):
            for slow in (False, True) if pair % 2 else (True, False):
                times[slow].append(await turn(agent, WARM_UP + 2 * pair + slow, slow=slow))
    return times[False], times[True]


async def turn(agent: Agent, number: int, *, slow: bool) -> float:
    """Seconds of one turn of a new customer."""
    said = f"{wish('memory', number)}{f', and I am a {SLOW} one' if slow else ''}"
    config: Any = {"configurable": {"thread_id": f"thread-{number}"}}
    began = time.perf_counter()
    await agent.graph.ainvoke(
        {"messages": [("user", said)]},
        config,
        context=AgentContext(user_id=f"customer-{number}", locale="en"),
    )
    return time.perf_counter() - began


def _told(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    return f"median {statistics.median(ordered) * 1000:.1f} ms, p95 {ordered[int(0.95 * len(ordered))] * 1000:.1f} ms"


if __name__ == "__main__":
    sys.exit(main())
