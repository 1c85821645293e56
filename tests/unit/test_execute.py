"""One attempt of one call: nothing escapes but what must, and cancellation goes the right way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langgraph.errors import GraphInterrupt

from tools import execute
from tools.execute import Raised, Returned, attempt
from tools.failures import TimedOut


async def try_once(run: Callable[[], Awaitable[Any]], seconds: float = 5) -> Returned | Raised:
    return await attempt(run, "probe", seconds)


async def test_a_value_comes_back() -> None:
    async def run() -> int:
        return 42

    assert await try_once(run) == Returned(42)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("no"),
        asyncio.CancelledError(),
        SystemExit(1),
        GeneratorExit(),
        MemoryError(),
        StopIteration(),
        StopAsyncIteration(),
        BaseExceptionGroup("several", [SystemExit(1), ValueError("no")]),
    ],
)
async def test_whatever_a_tool_raises_stays_inside(error: BaseException) -> None:
    async def run() -> None:
        raise error

    result = await try_once(run)
    assert isinstance(result, Raised)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


@pytest.mark.parametrize("wrap", [lambda e: e, lambda e: ExceptionGroup("several", [ValueError("no"), e])])
async def test_an_interrupt_of_the_graph_passes(wrap: Any) -> None:
    async def run() -> None:
        raise wrap(GraphInterrupt())

    with pytest.raises(GraphInterrupt):
        await try_once(run)


async def test_time_is_up_reaches_the_tool_as_cancellation() -> None:
    cleaned = asyncio.Event()

    async def run() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cleaned.set()

    result = await try_once(run, seconds=0.02)
    assert isinstance(result, Raised)
    assert isinstance(result.error, TimedOut)
    assert cleaned.is_set()


async def test_a_tool_that_will_not_stop_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "GRACE_SECONDS", 0.02)
    release = asyncio.Event()

    async def run() -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    result = await asyncio.wait_for(try_once(run, seconds=0.02), timeout=2)
    assert isinstance(result, Raised)
    release.set()
    await asyncio.sleep(0)


async def test_cancellation_from_outside_reaches_the_tool_and_goes_on() -> None:
    running, cleaned = asyncio.Event(), asyncio.Event()

    async def run() -> None:
        running.set()
        try:
            await asyncio.sleep(60)
        finally:
            cleaned.set()

    task = asyncio.create_task(try_once(run))
    await running.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert task.cancelled()
    assert cleaned.is_set()


async def test_cancellation_from_outside_counts_even_when_the_tool_keeps_it() -> None:
    running = asyncio.Event()

    async def run() -> str:
        running.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return "as if nothing had happened"
        return "done"

    task = asyncio.create_task(try_once(run))
    await running.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
