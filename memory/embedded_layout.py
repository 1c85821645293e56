"""Where the embedded Postgres keeps its files, and the file locks that its processes agree by.

Standard library only: the watcher process runs this without the project's packages.

    STEWARD_HOME/postgres/
        data/         the cluster, owned by the user that Postgres runs as
        run/          the socket, unless its path would be too long
        socket        names the folder that holds the socket
        server.log    what Postgres and the watcher had to say
        start.lock    held by whoever starts or stops the server
        users.lock    shared by every process that uses the server
        watch.lock    shared by every watcher
        server.lock   held by every process of the server itself
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

PORT = 5432
SOCKET_NAME = f".s.PGSQL.{PORT}"
SUPERUSER = "postgres"
DATABASE = "steward"
POLL_SECONDS = 0.01


class EmbeddedFault(Exception):
    """What went wrong, as one sentence; the client turns it into an error of the project."""


@dataclass(frozen=True)
class Layout:
    """Paths below `root`, which is `STEWARD_HOME/postgres`."""

    root: Path

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def run(self) -> Path:
        return self.root / "run"

    @property
    def socket_note(self) -> Path:
        return self.root / "socket"

    @property
    def log(self) -> Path:
        return self.root / "server.log"

    @property
    def pid_file(self) -> Path:
        return self.data / "postmaster.pid"

    @property
    def start_lock(self) -> Path:
        return self.root / "start.lock"

    @property
    def users_lock(self) -> Path:
        return self.root / "users.lock"

    @property
    def watch_lock(self) -> Path:
        return self.root / "watch.lock"

    @property
    def server_lock(self) -> Path:
        return self.root / "server.lock"


def open_lock(path: Path) -> int:
    """A descriptor of the lock file; closing it drops what was locked through it."""
    return _open_owned(path, os.O_RDWR)


def open_log(path: Path) -> BinaryIO:
    """The log, to be written to at its end."""
    return os.fdopen(_open_owned(path, os.O_WRONLY | os.O_APPEND), "ab")


def _open_owned(path: Path, flags: int) -> int:
    """What root makes in the home of another user is theirs, so that they can go on without root."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if os.geteuid() == 0:
        folder = path.parent.stat()
        os.fchown(descriptor, folder.st_uid, folder.st_gid)
    return descriptor


def try_lock(descriptor: int, operation: int) -> bool:
    """Take a lock if that is possible at once."""
    try:
        fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_free(path: Path, operation: int = fcntl.LOCK_EX) -> bool:
    """Whether the lock could be had at this moment; it is given back at once."""
    descriptor = open_lock(path)
    try:
        return try_lock(descriptor, operation)
    finally:
        os.close(descriptor)


def wait_for_lock(descriptor: int, *, seconds: float) -> bool:
    """Take a lock alone; whether that was possible in time."""
    until = time.monotonic() + seconds
    while not try_lock(descriptor, fcntl.LOCK_EX):
        if time.monotonic() > until:
            return False
        time.sleep(POLL_SECONDS)
    return True


@contextmanager
def locked(path: Path, *, seconds: float) -> Iterator[int]:
    """Hold a lock alone. A descriptor inherited by a child keeps it held after this block."""
    descriptor = open_lock(path)
    try:
        if not wait_for_lock(descriptor, seconds=seconds):
            raise EmbeddedFault(
                f"another process has been starting or stopping the embedded Postgres for {seconds:.0f} s; "
                f"see who holds {path}"
            )
        yield descriptor
    finally:
        os.close(descriptor)
