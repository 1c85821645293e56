"""A process whose children each run one side effect and may be killed at any moment.

It imports everything once. For each line of its input, `SEED POINT SECONDS`, it forks a child that runs one call,
kills it so many seconds (or `never`) after the call began, and prints `SIGNAL SECONDS`: what ended the child, and
when. The child's tool writes a row to `effect`, in a transaction of its own, as a system outside would; at POINT
`before` or `after` that write it kills itself.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from typing import Any

from memory.database import Database
from memory.tokens import count
from tests.support.tool_calls import Bench, call, scope, tool
from tools.spec import Arguments, ToolContext, ToolSpec

TABLE = "CREATE TABLE effect (idempotency_key text NOT NULL)"
DO = "INSERT INTO effect (idempotency_key) VALUES (%s)"
DONE = "SELECT 1 AS done FROM effect WHERE idempotency_key = %s"


def effect_tool(database: Database, *, settles: bool, point: str = "") -> ToolSpec:
    async def run(args: Arguments, context: ToolContext) -> Any:
        if point == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        await database.execute(DO, (context.idempotency_key,))
        if point == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return {"ticket": f"T-{args['x']}"}

    async def settle(key: str, args: Arguments, context: ToolContext) -> Any:
        return {"ticket": f"T-{args['x']}"} if await database.fetch(DONE, (key,)) else None

    return tool("open", run, effect="write", settle=settle if settles else None)


def bench_of(database: Database, seed: int, *, settles: bool, point: str = "") -> Bench:
    turn = scope(thread_id=f"thread-{seed}", turn_id=f"turn-{seed}")
    return Bench(database, [effect_tool(database, settles=settles, point=point)], scope=turn)


async def run_call(database: Database, seed: int, *, settles: bool, point: str = "") -> Any:
    (outcome,) = await bench_of(database, seed, settles=settles, point=point).run(call("open", "a", x=seed))
    return outcome


async def _child(url: str, seed: int, point: str, begins: int) -> None:
    async with Database(url, size=2) as database:
        bench = bench_of(database, seed, settles=False, point=point)
        os.write(begins, b".")
        await bench.run(call("open", "a", x=seed))
        os._exit(0)


def _fork(url: str, seed: int, point: str) -> int:
    """A child that has begun its call."""
    begun, begins = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        asyncio.run(_child(url, seed, point, begins))
    os.close(begins)
    os.read(begun, 1)
    os.close(begun)
    return child


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    url = sys.argv[1]
    count("loads the vocabulary, which the children share")
    _say("ready")
    for line in sys.stdin:
        seed, point, seconds = line.split()
        child = _fork(url, int(seed), point)
        began = time.perf_counter()
        if seconds != "never":
            time.sleep(float(seconds))
            os.kill(child, signal.SIGKILL)  # not reaped yet, so the id is still the child's
        _, status = os.waitpid(child, 0)
        ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        _say(f"{ended_by} {time.perf_counter() - began}")


if __name__ == "__main__":
    main()
