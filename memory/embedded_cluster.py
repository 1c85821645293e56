"""The embedded Postgres server itself: making its data, starting it, stopping it.

Standard library only: the watcher process runs this without the project's packages. The caller holds `start.lock`.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import BinaryIO

from memory.embedded_layout import (
    DATABASE,
    POLL_SECONDS,
    SOCKET_NAME,
    EmbeddedFault,
    Layout,
    is_free,
    open_lock,
    open_log,
    wait_for_lock,
)
from memory.embedded_options import ENVIRONMENT, INITDB, OPTIONS
from memory.embedded_user import ServerUser, become, choose_user

START_SECONDS = 120.0  # recovery after a crash can take long
STOP_SECONDS = 20.0
MARK_SECONDS = 2.0  # others hold `server.lock` for a moment while they look whether it is free
LOG_BYTES = 2_000_000


class Cluster:
    """One data folder and the server on it. `programs` holds bin, lib and share of Postgres."""

    def __init__(self, layout: Layout, programs: Path) -> None:
        self.layout = layout
        self.programs = programs
        self.process: subprocess.Popen[bytes] | None = None
        self.log_start = 0

    @property
    def running(self) -> bool:
        """Whether any process of the server lives, its backends included."""
        return not is_free(self.layout.server_lock)

    def ensure_started(self) -> None:
        """Start the server, or adopt one that runs already."""
        until = time.monotonic() + START_SECONDS
        while self.running:
            if self._status() == "ready" and self._takes_connections():
                return
            if time.monotonic() > until:
                raise EmbeddedFault(
                    f"a Postgres on {self.layout.data} neither starts nor stops; end it by hand"
                )
            time.sleep(POLL_SECONDS)
        self.start()

    def start(self) -> None:
        """Make the data if there is none, start the server on it and wait until it takes connections."""
        try:
            user = choose_user(self.layout, self.programs)
            if user is not None:
                self.layout.root.chmod(0o711)
            if not self.layout.data.exists():
                self._initialise(user)
            self._check_version()
            self._remove_traces()
            folder = self._socket_folder(user)
            self._spawn(user, folder)
            self._wait_until_ready()
        except OSError as error:
            raise EmbeddedFault(_sentence(str(error), self.layout)) from error

    def stop(self) -> None:
        """Shut down fast and cleanly: clients are cut off, everything committed is kept."""
        for kind, seconds in ((signal.SIGINT, STOP_SECONDS), (signal.SIGQUIT, STOP_SECONDS)):
            pid = self._pid()
            if pid is not None and self.running:
                os.kill(pid, kind)
            until = time.monotonic() + seconds
            while self.running and time.monotonic() < until:
                time.sleep(POLL_SECONDS)
        if self.process is not None:
            self.process.wait(timeout=STOP_SECONDS)
        self._remove_traces()

    def abandon(self) -> None:
        """End a server that cannot be stopped in order, because its files have been removed."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            try:
                self.process.wait(timeout=STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()

    def _initialise(self, user: ServerUser | None) -> None:
        """Build the cluster beside its place and move it there whole: a crash leaves nothing half made."""
        for leftover in self.layout.root.glob("data.new*"):
            shutil.rmtree(leftover)
        fresh = Path(tempfile.mkdtemp(prefix="data.new", dir=self.layout.root))
        _give(fresh, user)
        try:
            # Written to disk once, at the end, rather than by every step.
            self._run(user, "initdb", *INITDB, "--no-sync", f"--pgdata={fresh}")
            create = f"CREATE DATABASE {DATABASE}\n"
            self._run(user, "postgres", "--single", "-F", "-D", str(fresh), "postgres", stdin=create)
            self._run(user, "initdb", "--sync-only", f"--pgdata={fresh}")
        except EmbeddedFault:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        fresh.rename(self.layout.data)

    def _run(self, user: ServerUser | None, program: str, *arguments: str, stdin: str = "") -> None:
        done = subprocess.run(
            [str(self.programs / "bin" / program), *arguments],
            input=stdin,
            text=True,
            errors="replace",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(ENVIRONMENT),
            cwd=self.layout.root,
            preexec_fn=become(user),
            check=False,
        )
        if done.returncode != 0:
            raise EmbeddedFault(_sentence(done.stdout, self.layout))

    def _check_version(self) -> None:
        ours = "18"
        found = (self.layout.data / "PG_VERSION").read_text().strip()
        if found != ours:
            raise EmbeddedFault(
                f"{self.layout.data} was made by Postgres {found}, the installed one is {ours}; "
                "dump it with the older version and load it here, or move the folder away to begin anew"
            )

    def _remove_traces(self) -> None:
        """What a server leaves when it is killed. No process of it lives: `server.lock` was free."""
        self.layout.pid_file.unlink(missing_ok=True)
        if self.layout.socket_note.exists():
            folder = Path(self.layout.socket_note.read_text())
            self.layout.socket_note.unlink()
            if folder != self.layout.run and folder.name.startswith("steward-"):
                shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(self.layout.run, ignore_errors=True)

    def _socket_folder(self, user: ServerUser | None) -> Path:
        """Beside the data where a socket can be; else (path too long, odd file system) a private temporary one."""
        folder = self.layout.run
        folder.mkdir(mode=0o700)
        if not _takes_socket(folder):
            folder.rmdir()
            folder = Path(tempfile.mkdtemp(prefix="steward-"))
        _give(folder, user)
        self.layout.socket_note.write_text(str(folder))
        return folder

    def _spawn(self, user: ServerUser | None, socket_folder: Path) -> None:
        options = {**OPTIONS, "unix_socket_directories": str(socket_folder)}
        settings = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        mark = open_lock(self.layout.server_lock)
        if not wait_for_lock(mark, seconds=MARK_SECONDS):
            raise EmbeddedFault(f"another Postgres has just been started on {self.layout.data}; try again")
        with self._open_log() as log:
            self.process = subprocess.Popen(
                [str(self.programs / "bin" / "postgres"), "-D", str(self.layout.data), *settings],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=dict(ENVIRONMENT),
                cwd=self.layout.root,
                # The server and all its children inherit this descriptor: the lock is free when the last has ended.
                pass_fds=(mark,),
                preexec_fn=become(user),
            )
        os.close(mark)

    def _open_log(self) -> BinaryIO:
        log = self.layout.log
        if log.exists() and log.stat().st_size > LOG_BYTES:
            log.unlink()
        handle = open_log(log)
        self.log_start = handle.tell()
        return handle

    def _wait_until_ready(self) -> None:
        assert self.process is not None
        until = time.monotonic() + START_SECONDS
        while self._status() != "ready":
            if self.process.poll() is not None:
                raise EmbeddedFault(_sentence(self._log_tail(), self.layout))
            if time.monotonic() > until:
                self.stop()
                raise EmbeddedFault(
                    f"Postgres was not ready after {START_SECONDS:.0f} s; see {self.layout.log}"
                )
            time.sleep(POLL_SECONDS)

    def _log_tail(self) -> str:
        with self.layout.log.open("rb") as log:
            log.seek(self.log_start)
            return log.read(LOG_BYTES).decode(errors="replace")

    def _takes_connections(self) -> bool:
        """Whether somebody listens: after a crash, the pid file still calls a server ready that is no more."""
        try:
            folder = self.layout.socket_note.read_text()
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(f"{folder}/{SOCKET_NAME}")
        except OSError:
            return False
        return True

    def _pid_lines(self) -> list[str]:
        try:
            return self.layout.pid_file.read_text().splitlines()
        except FileNotFoundError:
            return []

    def _status(self) -> str:
        lines = self._pid_lines()
        return lines[7].strip() if len(lines) > 7 else ""

    def _pid(self) -> int | None:
        lines = self._pid_lines()
        return int(lines[0]) if lines else None


def _takes_socket(folder: Path) -> bool:
    """Whether a socket can be made there and be named in a connection string (where a comma parts hosts)."""
    if "," in str(folder) or '"' in str(folder):
        return False
    path = folder / SOCKET_NAME
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.bind(str(path))
        except OSError:
            return False
    path.unlink()
    return True


def _give(folder: Path, user: ServerUser | None) -> None:
    if user is not None:
        os.chown(folder, user.uid, user.gid)


def _sentence(output: str, layout: Layout) -> str:
    """One sentence on what to do, from what Postgres or the system said."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = (
        [line for line in lines if "FATAL" in line or "error" in line.lower()] or lines or ["no message"]
    )
    said = telling[-1]
    if "No space left" in output or "Disk quota" in output:
        return f"the disk that holds {layout.root} is full; make room, then start again ({said})"
    if "Permission denied" in output or "Operation not permitted" in output:
        return f"no permission for the data in {layout.root}; give it to the user that runs Steward ({said})"
    if "could not look up effective user ID" in output or "could not look up local user ID" in output:
        return (
            f"Postgres needs an entry for user id {os.geteuid()} in /etc/passwd; add one, or set DATABASE_URL"
        )
    return f"the embedded Postgres does not start: {said}; see {layout.log}, or set DATABASE_URL"
