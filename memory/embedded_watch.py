"""The watcher: a small process that starts the embedded Postgres and stops it when its last user has gone.

A process that uses the server holds a shared lock on `users.lock`, which the kernel drops however the process ends.
The watcher waits for the exclusive lock on the same file, so nobody has to say goodbye.

Runs with the standard library only, detached: `python -I -S -c BOOT package-root STEWARD_HOME/postgres programs lock`.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

from memory.embedded_cluster import Cluster
from memory.embedded_layout import EmbeddedFault, Layout, locked, open_lock, try_lock

START_LOCK_SECONDS = 300.0
RESTARTS = 5
RESTART_SECONDS = 60.0


class _ServerEnded(Exception):
    """Raised out of the wait for the last user when the server dies under them."""


def main(arguments: list[str]) -> None:
    """Detach, start the server, tell the client on standard output how that went, then watch."""
    root, programs, start_lock = arguments
    if os.fork() != 0:
        return
    for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # A service manager signals all processes of a unit: the server is to outlast its users, then to end.
        signal.signal(kind, signal.SIG_IGN)
    layout = Layout(Path(root))
    os.chdir(layout.root)
    watching = open_lock(layout.watch_lock)
    fcntl.flock(watching, fcntl.LOCK_SH)
    cluster = Cluster(layout, Path(programs))
    try:
        cluster.ensure_started()
    except EmbeddedFault as fault:
        _report({"fault": str(fault)})
        return
    _report({"ready": True})
    os.close(int(start_lock))
    try:
        _watch(cluster)
    except (EmbeddedFault, OSError) as fault:
        sys.stderr.write(f"The watcher of the embedded Postgres gives up: {fault}\n")
        cluster.abandon()


def _report(message: dict[str, object]) -> None:
    """One line to the client, who may be gone; then standard output is given up, so that the client sees its end."""
    with contextlib.suppress(BrokenPipeError):
        os.write(1, json.dumps(message).encode() + b"\n")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def _watch(cluster: Cluster) -> None:
    users = open_lock(cluster.layout.users_lock)
    ends: list[float] = []
    while True:
        try:
            _wait_for_last_user(cluster, users)
        except _ServerEnded:
            now = time.monotonic()
            ends = [*(end for end in ends if now - end < RESTART_SECONDS), now]
            if len(ends) > RESTARTS:
                raise EmbeddedFault(f"it ended {len(ends)} times within {RESTART_SECONDS:.0f} s") from None
            with locked(cluster.layout.start_lock, seconds=START_LOCK_SECONDS):
                cluster.ensure_started()
            continue
        with locked(cluster.layout.start_lock, seconds=START_LOCK_SECONDS):
            if try_lock(users, fcntl.LOCK_EX):
                cluster.stop()
                return


def _wait_for_last_user(cluster: Cluster, users: int) -> None:
    """Sleep in the kernel until nobody holds the lock; raise when the server ends before that."""

    def ended(_signal: int, _frame: FrameType | None) -> None:
        if cluster.process is not None and cluster.process.poll() is not None:
            raise _ServerEnded

    signal.signal(signal.SIGCHLD, ended)
    try:
        ended(signal.SIGCHLD, None)
        fcntl.flock(users, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_UN)
    finally:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


if __name__ == "__main__":
    main(sys.argv[1:])
