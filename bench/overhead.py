"""What the tool engine adds to a call, with and without its ledger.

    python -m bench.overhead [--rounds 400]

Each round makes, one after the other: the bare function; a call of it through the engine with nothing written; a
look-up through the engine (one INSERT); one bare committed INSERT; a call with a side effect (claim before, outcome
after); two bare committed INSERTs of rows of the same size. Figures are in milliseconds: the median, and the fastest
tenth, which says what it costs where nothing else runs on the machine. DATABASE_URL names
a server to use; none: the embedded one in STEWARD_HOME. Logs are written as the product writes them, to nowhere.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import statistics
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from psycopg.types.json import Jsonb
from pydantic import Field

import memory
import tools
from graph.logs import configure_logs
from graph.settings import Settings
from memory.business_state import BusinessState
from memory.database import Database, open_database
from memory.migrate import migrate
from tools.calls import CallScope, Outcome, RawCall
from tools.declare import tool
from tools.engine import ToolEngine
from tools.ledger import ERASURE, Ledger, Row
from tools.registry import ToolRegistry
from tools.spec import ToolContext

USER = "bench:overhead"
RESULT = {
    "order_id": "ABC-20240520-001",
    "status": "shipped",
    "total": "259.00",
    "items": [{"sku": f"SKU-{number}", "name": "Ceramic mug", "quantity": number} for number in range(1, 6)],
}
INSERT = "INSERT INTO bench_bare (key, result) VALUES (%s, %s)"

NO_CONTEXT: Any = None
Order = Annotated[str, Field(description="Order number.", examples=["ABC-20240520-001"])]


@tool()
async def look_up(
    context: ToolContext, order_id: Order, number: Annotated[int, Field(description="Count.")]
) -> Any:
    """Look an order up. Use it when the user asks about an order."""
    return RESULT


@tool(name="change", effect="write")
async def change(
    context: ToolContext, order_id: Order, number: Annotated[int, Field(description="Count.")]
) -> Any:
    """Change an order. Use it when the user asks for that."""
    return RESULT


DIFFERENCES = {
    "call without ledger − bare function (at most 1)": ("call without ledger", "bare function"),
    "side effect − two bare INSERTs (at most 2)": ("side effect", "two bare INSERTs"),
    "look-up − one bare INSERT": ("look-up", "one bare INSERT"),
}


class Unwritten(Ledger):
    """A ledger that keeps nothing, to see what the engine costs without it."""

    async def record(self, scope: CallScope, calls: Sequence[tuple[Outcome, Row]]) -> None:
        return None


class Contest:
    """The things that are compared, and how long each took in every round."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self.database = database
        registry = ToolRegistry([look_up, change])
        self.engine = ToolEngine(registry, database, settings, BusinessState(database))
        self.unwritten = ToolEngine(registry, database, settings, BusinessState(database))
        self.unwritten._ledger = Unwritten(database)
        self.seconds: dict[str, list[float]] = defaultdict(list)

    async def round(self, number: int) -> None:
        things: dict[str, Callable[[], Awaitable[Any]]] = {
            "bare function": lambda: look_up.run(
                {"order_id": "ABC-20240520-001", "number": number}, NO_CONTEXT
            ),
            "call without ledger": lambda: self._call(self.unwritten, "look_up", number),
            "look-up": lambda: self._call(self.engine, "look_up", number),
            "one bare INSERT": lambda: self._insert(f"one-{number}"),
            "side effect": lambda: self._call(self.engine, "change", number),
            "two bare INSERTs": lambda: self._two_inserts(number),
        }
        for name, thing in things.items():
            began = time.perf_counter()
            await thing()
            self.seconds[name].append(time.perf_counter() - began)

    async def _call(self, engine: ToolEngine, name: str, number: int) -> None:
        scope = _scope(number)
        args: Any = {"order_id": "ABC-20240520-001", "number": number}
        prepared = await engine.prepare([RawCall(f"call-{number}", name, args)], scope)
        (outcome,) = await engine.run(prepared, scope, {}, lambda event: None)
        assert outcome.ok, outcome

    async def _insert(self, key: str) -> None:
        await self.database.execute(INSERT, (key, Jsonb(RESULT)))

    async def _two_inserts(self, number: int) -> None:
        await self._insert(f"first-{number}")
        await self._insert(f"second-{number}")


def _scope(number: int) -> CallScope:
    return CallScope(
        user_id=USER,
        thread_id="bench-overhead",
        turn_id=f"turn-{number}",
        locale="en",
        timezone="Asia/Shanghai",
        now=datetime.now(UTC),
        offered=("look_up", "change"),
    )


async def measure(rounds: int) -> dict[str, tuple[float, float]]:
    """Median and tenth percentile of each, in milliseconds."""
    settings = Settings()
    folders = [
        (module.__name__, Path(str(module.__file__)).parent / "migrations") for module in (memory, tools)
    ]
    async with open_database(settings) as database:
        await migrate(database, folders)
        await database.execute("DROP TABLE IF EXISTS bench_bare")
        await database.execute(
            "CREATE TABLE bench_bare (id bigint GENERATED ALWAYS AS IDENTITY, key text UNIQUE, result jsonb)"
        )
        contest = Contest(database, settings)
        try:
            for number in range(-20, 0):
                await contest.round(number)
            contest.seconds.clear()
            for number in range(rounds):
                await contest.round(number)
        finally:
            await database.execute("DROP TABLE bench_bare")
            for statement in ERASURE.statements:
                await database.execute(statement, {"user_id": USER})
    return {
        name: (statistics.median(seconds) * 1000, statistics.quantiles(seconds, n=10)[0] * 1000)
        for name, seconds in contest.seconds.items()
    }


def report(figures: dict[str, tuple[float, float]]) -> str:
    """The figures as a Markdown table."""
    lines = ["| | median | fastest tenth |", "|---|---|---|"]
    lines += [f"| {name} | {median:.3f} | {fast:.3f} |" for name, (median, fast) in figures.items()]
    for name, (more, less) in DIFFERENCES.items():
        median, fast = (figures[more][place] - figures[less][place] for place in (0, 1))
        lines.append(f"| **{name}** | **{median:.3f}** | **{fast:.3f}** |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=400)
    given = parser.parse_args()
    with contextlib.redirect_stderr(io.StringIO()):
        configure_logs(Settings())
    print(report(asyncio.run(measure(given.rounds))))


if __name__ == "__main__":
    main()
