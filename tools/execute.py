"""One attempt of one call: within its time, with nothing escaping but what must.

The tool runs in a task of its own. That tells the three cancellations apart without guessing: one that the tool
raises itself ends its task and is an error like any other; one that we send because time is up is ours to
send; one that comes from outside arrives at the waiting side, is passed on to the tool, and then goes on its way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

import structlog

from tools.failures import TimedOut, bubbles_up

GRACE_SECONDS: Final = 1.0
"""How long a cancelled tool may take to clean up before nobody waits for it any more."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Returned:
    """The tool came back with a value."""

    value: Any


@dataclass(frozen=True)
class Raised:
    """The tool raised, or ran out of time (`TimedOut`)."""

    error: BaseException


async def attempt(run: Callable[[], Awaitable[Any]], tool: str, seconds: float | None) -> Returned | Raised:
    """Await `run()` once, for at most `seconds` (None: as long as it takes).

    Passes on what no guard may keep: the graph's own signals, Ctrl-C, and cancellation from outside.
    """
    task = asyncio.create_task(_contained(run), name=f"tool {tool}")
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        await _stop(task, tool)
        raise
    if not done:
        await _stop(task, tool)
        return Raised(TimedOut(f"{tool} exceeded {seconds:g} s"))
    result = task.result()
    if isinstance(result, Raised) and (signal := bubbles_up(result.error)):
        raise signal
    return result


async def _contained(run: Callable[[], Awaitable[Any]]) -> Returned | Raised:
    try:
        return Returned(await run())
    except KeyboardInterrupt:
        raise
    except (
        BaseException
    ) as error:  # a tool's SystemExit must not end the process, nor its CancelledError the turn
        return Raised(error)


async def _stop(task: asyncio.Task[Returned | Raised], tool: str) -> None:
    """Cancel the tool and let it clean up; one that refuses to stop is left behind, and said so."""
    task.cancel()
    _, pending = await asyncio.wait({task}, timeout=GRACE_SECONDS)
    if pending:
        log.warning("tool does not stop when cancelled", tool=tool, grace_seconds=GRACE_SECONDS)
