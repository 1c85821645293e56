"""How every command runs: settings first, then an event loop that signals end cleanly; errors are one line."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

import typer

from memory.errors import StewardError

if TYPE_CHECKING:
    from graph.settings import Settings

OK, BAD_USAGE, FAILED = 0, 2, 3
INTERRUPTED, TERMINATED = 130, 143
"""What a shell expects of a process that SIGINT or SIGTERM has ended."""


class BadUsage(StewardError):
    """The command was given something that it cannot take."""


def run(command: Callable[[Settings], Awaitable[int]]) -> NoReturn:
    """Read the settings, run the command in an event loop and leave with its exit code."""
    settings = prepare()
    raise typer.Exit(asyncio.run(_until_signal(command(settings))))


def prepare() -> Settings:
    """The settings of this run, with logs configured by them, and telemetry by the environment."""
    from graph.logs import configure_logs
    from graph.settings import Settings
    from graph.telemetry import export_telemetry

    settings = Settings.load()
    configure_logs(settings)
    export_telemetry()
    return settings


async def _until_signal(command: Awaitable[int]) -> int:
    """SIGTERM cancels the command, so that everything it has opened is closed (asyncio does so for Ctrl-C)."""
    task = asyncio.ensure_future(command)
    terminated = False

    def terminate() -> None:
        nonlocal terminated
        terminated = True
        task.cancel()

    with suppress(NotImplementedError):  # Windows has no such signal
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminate)
    try:
        return await task
    except asyncio.CancelledError:
        if terminated:
            return TERMINATED
        raise


def report_error(error: BaseException, *, debug: bool) -> int:
    """Tell an error in one line on standard error; the exit code that belongs to it."""
    from memory.errors import InvalidInput
    from memory.masking import mask

    if debug:
        import traceback

        print(mask("".join(traceback.format_exception(error))), file=sys.stderr)
    if isinstance(error, StewardError):
        text = " ".join(str(error).split())
        code = BAD_USAGE if isinstance(error, BadUsage | InvalidInput) else FAILED
    else:
        text = f"unexpected error ({type(error).__name__}); run with STEWARD_LOG_LEVEL=debug to see where"
        code = FAILED
    print(f"steward: {mask(text)}", file=sys.stderr)
    return code
