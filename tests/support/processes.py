"""Real processes of the product: the command line, and the dev server, as somebody outside runs them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 120.0


def environment(folder: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """What a process under test sees: nothing of ours but the settings given."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TZ")}
    return {**kept, "HOME": str(folder), "PYTHONPATH": str(ROOT), **settings}


def hear_interrupts() -> None:
    """For a child process: Ctrl-C counts, also where the tests themselves run in the background of a shell."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Steward:
    """Runs `steward` in a folder with settings of its own."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.settings = {name.upper(): value for name, value in settings.items()}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command and leave it running."""
        return subprocess.Popen(
            [sys.executable, "-m", "graph.cli", *arguments],
            cwd=self.folder,
            env=environment(self.folder, self.settings),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            preexec_fn=hear_interrupts,
        )

    def run(self, *arguments: str, given: str = "", timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        process = self.start(*arguments)
        out, err = process.communicate(given, timeout)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def chat(self, message: str, *options: str, user: str = "user_123") -> dict[str, Any]:
        """One turn with `--json`; its object. Fails where the turn does."""
        done = self.run("chat", message, "--user", user, "--json", *options)
        assert done.returncode == 0, done.stderr
        return last_object(done.stdout)


def last_object(output: str) -> dict[str, Any]:
    """The object on the last line."""
    found: dict[str, Any] = json.loads(output.rstrip("\n").rpartition("\n")[2])
    return found


class Server:
    """`steward serve` on a free port, up when the `with` block begins."""

    def __init__(self, steward: Steward, *options: str) -> None:
        self._steward = steward
        self._options = options
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop(signal.SIGTERM)

    @property
    def log(self) -> str:
        """What the server has said so far."""
        return (self._steward.folder / "server.log").read_text(encoding="utf-8", errors="replace")

    def start(self) -> None:
        """Start it and wait until it answers."""
        with (self._steward.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "graph.cli", "serve", "--port", str(self.port), *self._options],
                cwd=self._steward.folder,
                env=environment(self._steward.folder, self._steward.settings),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + START_SECONDS
        while not _answers(f"{self.url}/ok"):
            if self._process.poll() is not None or time.monotonic() > until:
                raise AssertionError(f"The server did not start:\n{self.log[-4000:]}")
            time.sleep(0.2)

    def stop(self, kind: signal.Signals) -> int:
        """End it by a signal; its exit code."""
        assert self._process is not None
        self._process.send_signal(kind)
        return self._process.wait(30)


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def wait_until(holds: Callable[[], bool], *, seconds: float = 30) -> None:
    """Wait until something holds; AssertionError where it never does. Blocks: from async code, in a thread."""
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.1)
