"""Import and open, and the memory of one process, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from bench.peer.endpoint import Endpoint

IMPORTS = """
import time; began = time.perf_counter()
import langgraph.graph, langchain_openai, psycopg
print(time.perf_counter() - began)
"""
OPEN = """
import asyncio, time; began = time.perf_counter()
from graph import Settings, open_agent
async def main():
    async with open_agent(Settings()):
        print(time.perf_counter() - began, flush=True)
asyncio.run(main())
"""
TURNS = r"""
import asyncio, re
from pathlib import Path
from graph import AgentContext, Settings, open_agent
async def main():
    async with open_agent(Settings()) as agent:
        for turn in range(5):
            state = await agent.graph.ainvoke(
                {"messages": [("user", "Where is my order ABC-20240520-001?")]},
                {"configurable": {"thread_id": "memory"}}, context=AgentContext(user_id="user_123"))
            assert state["answer"]
        await agent.worker.drain(timeout=30)
    # Not ru_maxrss: in it the process that started this one lives on.
    print(int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024)
asyncio.run(main())
"""


def opening(url: str, home: Path, endpoint: Endpoint, runs: int) -> tuple[float, float]:
    """Median seconds of the three imports alone, and of importing and opening Steward, taken in turn."""
    _last_number(OPEN, url, home, endpoint)  # migrations are applied, files are in the cache
    imports, opened = [], []
    for _ in range(runs):
        imports.append(_last_number(IMPORTS, url, home, endpoint))
        opened.append(_last_number(OPEN, url, home, endpoint))
    return median(imports), median(opened)


def peak_memory(url: str, home: Path, endpoint: Endpoint) -> float:
    """Most bytes in memory of a process that opens the shop, serves five turns and remembers them."""
    return _last_number(TURNS, url, home, endpoint)


def _last_number(code: str, url: str, home: Path, endpoint: Endpoint) -> float:
    values = {name.upper(): value for name, value in endpoint.settings().items()}
    environment = {**os.environ, **values, "DATABASE_URL": url, "STEWARD_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return float(json.loads(done.stdout.splitlines()[-1]))
