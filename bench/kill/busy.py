"""Four processes that serve a turn each on one thread, at once (O2)."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

from langchain_core.messages import HumanMessage

from bench.kill.business import BUSINESS
from bench.kill.processes import fork
from bench.kill.script import answer, wish
from graph.open import open_agent
from graph.settings import Settings
from nodes.context import AgentContext

PROCESSES = 4
FIRST = 20_000_000
"""Number of the first wish."""
CONFIG: Any = {"configurable": {"thread_id": "busy"}}


def at_once(settings: Settings) -> list[str]:
    """What is wrong with the thread after all of them have served their turn; nothing, if eight messages stand."""
    starting, start = os.pipe()
    children = [fork(lambda beacon, n=n: _serve(settings, n, beacon, starting)) for n in range(PROCESSES)]
    ready = [child.wait_for(b"r") for child in children]
    os.write(start, b"s" * PROCESSES)
    done = [child.wait_for(b"d") for child in children]
    codes = [
        child.end(None if ended else signal.SIGKILL) for child, ended in zip(children, done, strict=True)
    ]
    os.close(starting)
    os.close(start)
    if not all(ready) or any(codes):
        return [f"turns at once ended with {codes}"]
    return asyncio.run(_faults(settings))


def _serve(settings: Settings, number: int, beacon: int, starting: int) -> None:
    async def turn() -> None:
        async with open_agent(settings, BUSINESS) as agent:
            os.write(beacon, b"r")
            await asyncio.to_thread(os.read, starting, 1)
            await agent.graph.ainvoke(
                {"messages": [HumanMessage(wish("next", FIRST + number))]},
                CONFIG,
                context=AgentContext(user_id="busy", locale="en"),
            )
            os.write(beacon, b"d")

    asyncio.run(turn())


async def _faults(settings: Settings) -> list[str]:
    async with open_agent(settings, BUSINESS) as agent:
        messages = (await agent.graph.aget_state(CONFIG)).values["messages"]
    pairs = {(asked.text, said.text) for asked, said in zip(messages[::2], messages[1::2], strict=True)}
    wanted = {(wish("next", FIRST + n), answer("next", FIRST + n)) for n in range(PROCESSES)}
    return [] if pairs == wanted else [f"after four turns at once stand {sorted(pairs)}"]
