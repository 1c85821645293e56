"""The sections of the comparison: each opens what it compares, measures, and states its figures beside their bounds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any
from uuid import uuid4

from bench.peer import startup, storage, times
from bench.peer.contestants import Compiled, Steward, open_bare, open_plain, open_steward
from bench.peer.counting import counted
from bench.peer.databases import fresh_database
from bench.peer.endpoint import Endpoint
from bench.peer.streaming import first_tokens
from bench.peer.words import SHORT, long_text

SESSIONS = 16
LONG = 50
VERY_LONG = 500
MILLISECONDS = 1000.0


@dataclass(frozen=True)
class Figure:
    """One measured value, and what it may be at most (or, with `least`, must be at least)."""

    what: str
    value: float
    bound: float | None = None
    least: bool = False

    @property
    def holds(self) -> bool:
        if self.bound is None:
            return True
        return self.value >= self.bound if self.least else self.value <= self.bound


@dataclass
class Bench:
    """The server, the endpoint, the sizes, and what was found."""

    server_url: str
    home: Path
    endpoint: Endpoint
    runs: int
    quick: bool = False
    very_long: int = VERY_LONG
    """Turns of the longest thread; one no longer than the long one is not measured."""
    figures: list[Figure] = field(default_factory=list)

    def add(self, what: str, value: float, bound: float | None = None, *, least: bool = False) -> None:
        self.figures.append(Figure(what, value, bound, least))
        print(f"{what}: {value:,.3f}", flush=True)

    def report(self) -> str:
        lines = ["| | measured | bound |", "|---|---:|---:|"]
        for figure in self.figures:
            bound = "" if figure.bound is None else f"{'≥' if figure.least else '≤'} {figure.bound:,g}"
            missed = "" if figure.holds else " **missed**"
            lines.append(f"| {figure.what} | {figure.value:,.2f} | {bound}{missed} |")
        return "\n".join(lines)

    def within_bounds(self) -> bool:
        return all(figure.holds for figure in self.figures)

    @asynccontextmanager
    async def steward(self, **settings: Any) -> AsyncIterator[Steward]:
        with fresh_database(self.server_url) as url:
            async with open_steward(url, self.home, self.endpoint, **settings) as steward:
                yield steward

    @asynccontextmanager
    async def plain(self) -> AsyncIterator[Compiled]:
        with fresh_database(self.server_url) as url:
            async with open_plain(url, self.endpoint) as plain:
                yield plain

    @asynccontextmanager
    async def bare(self) -> AsyncIterator[Compiled]:
        with fresh_database(self.server_url) as url:
            async with open_bare(url, self.endpoint) as bare:
                yield bare


PLAIN, BARE, STEWARD = "create_agent", "bare graph", "Steward"
ROUTED = "Steward, router model"


async def first_turn(bench: Bench) -> None:
    """The first turn of a thread, with one tool call."""
    async with AsyncExitStack() as stack:
        steward = await stack.enter_async_context(bench.steward())
        routed = await stack.enter_async_context(bench.steward(steward_local_router="off"))
        routed.name = ROUTED
        contestants = [
            steward,
            await stack.enter_async_context(bench.plain()),
            routed,
            await stack.enter_async_context(bench.bare()),
        ]
        await times.warm_up(contestants)
        taken = await times.first_turns(contestants, 8 if bench.quick else bench.runs * 8)
    for name, seconds in taken.items():
        bench.add(f"first turn, {name}, ms", median(seconds) * MILLISECONDS)
    bench.add("first turn, Steward / create_agent", times.ratio(taken, STEWARD, PLAIN), 1.3)
    bench.add("first turn, with a router model call / create_agent", times.ratio(taken, ROUTED, PLAIN), 1.7)
    own = median(a - b for a, b in zip(taken[STEWARD], taken[BARE], strict=True))
    bench.add("first turn, Steward − bare graph, ms", own * MILLISECONDS, 15)


async def long_thread(bench: Bench) -> None:
    """A thread of fifty turns with 1.2 kB of text each."""
    turns = 12 if bench.quick else LONG
    async with AsyncExitStack() as stack:
        contestants = [
            await stack.enter_async_context(bench.steward()),
            await stack.enter_async_context(bench.plain()),
            await stack.enter_async_context(bench.bare()),
        ]
        await times.warm_up(contestants)
        taken = await times.long_threads(contestants, 1 if bench.quick else bench.runs, turns)
    last = {name: [times.around(course, turns) for course in courses] for name, courses in taken.items()}
    fifth = {name: [times.around(course, 5) for course in courses] for name, courses in taken.items()}
    for name in last:
        bench.add(f"turn 5, {name}, ms", median(fifth[name]) * MILLISECONDS)
        bench.add(f"turn {turns}, {name}, ms", median(last[name]) * MILLISECONDS)
    bench.add(f"turn {turns}, Steward / create_agent", times.ratio(last, STEWARD, PLAIN), 0.4)
    growth = median(a / b for a, b in zip(last[STEWARD], fifth[STEWARD], strict=True))
    bench.add(f"Steward, turn {turns} / turn 5", growth, 1.1)


async def throughput(bench: Bench) -> None:
    """Turns a second at sixteen sessions."""
    async with AsyncExitStack() as stack:
        inline = await stack.enter_async_context(bench.steward(steward_worker="inline"))
        inline.name = "Steward, worker in the same process"
        contestants = [
            await stack.enter_async_context(bench.steward()),
            await stack.enter_async_context(bench.plain()),
            inline,
        ]
        await times.warm_up(contestants)
        await inline.settle()
        rates = await times.throughput(contestants, 2 if bench.quick else bench.runs, SESSIONS, 5)
    for name, values in rates.items():
        bench.add(f"turns a second at {SESSIONS} sessions, {name}", median(values))
    bench.add("turns a second, Steward / create_agent", times.ratio(rates, STEWARD, PLAIN), 0.75, least=True)
    bench.add(
        "turns a second, worker in the same process / create_agent", times.ratio(rates, inline.name, PLAIN)
    )


async def storage_of_threads(bench: Bench) -> None:
    """Bytes after threads of fifty and five hundred turns, the worker's included."""
    turns, many = (10, 40) if bench.quick else (LONG, bench.very_long)
    plain_bytes, plain_disk = await _bytes_of(bench, PLAIN, turns)
    first, first_disk = await _bytes_of(bench, STEWARD, turns)
    for table, size in sorted(first.items()):
        bench.add(f"bytes after {turns} turns, {table}", size)
    total, plain_total = sum(first.values()), sum(plain_bytes.values())
    bench.add(f"bytes after {turns} turns, create_agent", plain_total)
    bench.add(f"bytes after {turns} turns, Steward", total)
    bench.add("create_agent / Steward, bytes", plain_total / total, 20, least=True)
    bench.add("create_agent / Steward, on disk with indexes", plain_disk / first_disk)
    if many <= turns:
        return
    second, second_disk = await _bytes_of(bench, STEWARD, many)
    later = sum(second.values())
    bench.add(f"bytes after {many} turns, Steward", later)
    bench.add(f"Steward, bytes after {many} / after {turns} turns", later / total, 11 * many / turns / 10)
    bench.add(f"Steward, on disk after {many} / after {turns} turns", second_disk / first_disk)


async def _bytes_of(bench: Bench, name: str, turns: int) -> tuple[Mapping[str, int], int]:
    with fresh_database(bench.server_url) as url:
        opened = (
            open_plain(url, bench.endpoint)
            if name == PLAIN
            else open_steward(url, bench.home, bench.endpoint)
        )
        async with opened as contestant:
            before, disk_before = storage.bytes_by_table(url), storage.bytes_on_disk(url)
            thread_id = uuid4().hex
            for turn in range(1, turns + 1):
                await contestant.turn(thread_id, long_text(turn))
            if isinstance(contestant, Steward):
                await contestant.settle()
        after = storage.bytes_by_table(url)
        added = {table: size - before.get(table, 0) for table, size in after.items()}
        return {t: size for t, size in added.items() if size > 0}, storage.bytes_on_disk(url) - disk_before


async def stream(bench: Bench) -> None:
    """The first streamed token of an answer."""
    async with bench.steward() as steward:
        beyond = await first_tokens(steward, bench.endpoint, 12 if bench.quick else LONG)
    bench.add("first token, beyond the model's own, ms", beyond * MILLISECONDS, 60)


async def start(bench: Bench) -> None:
    """Import and open, and peak memory."""
    with fresh_database(bench.server_url) as url:
        imports, opened = startup.opening(url, bench.home, bench.endpoint, 2 if bench.quick else bench.runs)
        memory = startup.peak_memory(url, bench.home, bench.endpoint)
    bench.add("import langgraph, langchain_openai, psycopg, s", imports)
    bench.add("import and open Steward, s", opened)
    bench.add("difference, s", opened - imports, 0.5)
    bench.add("peak memory of one process, MB", memory / 1e6, 400)


async def count(bench: Bench) -> None:
    """Round trips, statements and checkpoints of a plain turn of a thread that has begun."""
    async with bench.steward() as steward, bench.plain() as plain:
        for contestant in (plain, steward):
            thread_id = uuid4().hex
            await contestant.turn(thread_id, SHORT)
            with counted() as traffic:
                await contestant.turn(thread_id, SHORT)
            bench.add(f"round trips of a turn, {contestant.name}", traffic.round_trips)
            bench.add(
                f"checkpoints of a turn, {contestant.name}", await checkpoints_of(contestant, thread_id) / 2
            )
            for text, times_sent in traffic.statements.most_common():
                print(f"  {times_sent:4} {text}")


async def checkpoints_of(contestant: Steward | Compiled, thread_id: str) -> int:
    """Checkpoints of a thread, as its history shows them."""
    graph = contestant.agent.graph if isinstance(contestant, Steward) else contestant.graph
    config = {"configurable": {"thread_id": thread_id}}
    return len([snapshot async for snapshot in graph.aget_state_history(config)])


SECTIONS: Mapping[str, Callable[[Bench], Awaitable[None]]] = {
    "first": first_turn,
    "long": long_thread,
    "throughput": throughput,
    "bytes": storage_of_threads,
    "stream": stream,
    "start": start,
    "count": count,
}
