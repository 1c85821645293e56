"""A real PgBouncer in transaction mode, in front of a Postgres that is reached by its unix socket."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlsplit

import psycopg

from tests.support.processes import free_port, wait_until

PATHS = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"])
INSTALL = "PgBouncer is not installed; on Debian: apt-get install pgbouncer"

CONFIGURATION = """
[databases]
* = host={folder} port={port} user={user}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 500
logfile = {log}
"""


class PgBouncer:
    """Runs while the `with` block does; `size` is the most connections to Postgres of each database."""

    def __init__(self, server_url: str, folder: Path, *, size: int) -> None:
        binary = shutil.which("pgbouncer", path=PATHS)
        if binary is None:
            raise FileNotFoundError(INSTALL)
        self._port = free_port()
        parts = urlsplit(server_url)
        query = parse_qs(parts.query)
        socket = Path(query["host"][0]), query.get("port", ["5432"])[0]
        # As whoever the socket belongs to: nobody else may open it, and PgBouncer will not run as root.
        owner = pwd.getpwuid((socket[0] / f".s.PGSQL.{socket[1]}").stat().st_uid)
        folder.mkdir(parents=True, exist_ok=True)
        os.chown(folder, owner.pw_uid, owner.pw_gid)
        configuration = folder / "pgbouncer.ini"
        values = {
            "folder": socket[0],
            "port": socket[1],
            "user": parts.username,
            "listen": self._port,
            "size": size,
            "log": folder / "pgbouncer.log",
        }
        configuration.write_text(CONFIGURATION.format_map(values), encoding="utf-8")
        as_owner = ["-u", owner.pw_name] if os.geteuid() == 0 else []
        self._command = [binary, *as_owner, str(configuration)]
        self._log = folder / "pgbouncer.log"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def url(self, database: str) -> str:
        """The address of a database behind it."""
        return f"postgresql://anybody@127.0.0.1:{self._port}/{database}"

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_until(self._answers, seconds=10)

    def stop(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait(10)

    @property
    def log(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    def _answers(self) -> bool:
        try:
            with psycopg.connect(self.url("postgres"), connect_timeout=2):
                return True
        except psycopg.OperationalError:
            return False
