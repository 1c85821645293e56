"""Children forked from a parent that has imported everything, and the model server in a process of its own."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
import traceback
import urllib.request
from collections.abc import Callable
from types import TracebackType
from typing import NoReturn, Self

from tests.support.model_server import ModelServer, Script

LONGEST = 60.0
"""Seconds after which a child hangs."""


def fork(work: Callable[[int], None]) -> Child:
    """Run `work` in a child; it is given a pipe to tell how far it is."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        os.close(writing)
        return Child(pid, reading)
    os.close(reading)
    _leave(lambda: work(writing))


def _leave(work: Callable[[], None]) -> NoReturn:
    """Nothing of the parent's may be closed or flushed by a child."""
    try:
        work()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


class Child:
    """A process under test, as its parent sees it."""

    def __init__(self, pid: int, pipe: int) -> None:
        self.pid = pid
        self._pipe = pipe
        self._marks = b""

    def wait_for(self, mark: bytes, seconds: float = LONGEST) -> bool:
        """Until it has told `mark`; False where it ended, or the time did, before."""
        until = time.monotonic() + seconds
        while mark not in self._marks:
            ready, _, _ = select.select([self._pipe], [], [], max(0.0, until - time.monotonic()))
            piece = os.read(self._pipe, 64) if ready else b""
            if not piece:
                return False
            self._marks += piece
        return True

    def told(self, mark: bytes) -> int:
        """How often it has told `mark` so far; does not wait."""
        while select.select([self._pipe], [], [], 0)[0] and (piece := os.read(self._pipe, 64)):
            self._marks += piece
        return self._marks.count(mark)

    def line(self) -> str:
        """What it says first, up to the end of the line."""
        text = b""
        while not text.endswith(b"\n"):
            text += os.read(self._pipe, 1)
        return text.decode().strip()

    def signal(self, kind: signal.Signals) -> None:
        """Send it a signal; it has to be waited for by `end` all the same."""
        os.kill(self.pid, kind)

    def end(self, kind: signal.Signals | None = None) -> int:
        """Wait for its end, hastened by a signal; the exit code, negative for a signal."""
        if kind is not None:
            self.signal(kind)
        _, status = os.waitpid(self.pid, 0)
        os.close(self._pipe)
        return os.waitstatus_to_exitcode(status)


class ModelProcess:
    """The scripted model endpoint, out of the reach of the kills."""

    def __init__(self, script: Script) -> None:
        self._script = script

    def __enter__(self) -> Self:
        reading, self._lifeline = os.pipe()
        self._child = fork(lambda pipe: self._serve(pipe, reading))
        os.close(reading)
        self.url = self._child.line()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._lifeline)
        self._child.end(signal.SIGKILL)

    def settings(self) -> dict[str, str]:
        server = ModelServer(self._script)
        names = {**server.settings(), "openai_base_url": self.url}
        server._socket.close()
        return names

    def faults(self) -> list[str]:
        """What the strict endpoint refused."""
        with urllib.request.urlopen(self.url.removesuffix("/v1") + "/faults", timeout=10) as response:
            found: list[str] = json.load(response)
        return found

    def _serve(self, pipe: int, lifeline: int) -> None:
        """Until the parent has gone, however it ended."""
        os.close(self._lifeline)
        with ModelServer(self._script) as server:
            os.write(pipe, f"{server.url}\n".encode())
            os.read(lifeline, 1)
