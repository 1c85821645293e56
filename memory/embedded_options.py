"""How the embedded Postgres is made and run.

Standard library only: the watcher process runs this without the project's packages.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from memory.embedded_layout import SUPERUSER

ENVIRONMENT: Mapping[str, str] = {"LC_ALL": "C", "PATH": os.defpath}

INITDB = (
    f"--username={SUPERUSER}",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--auth=trust",
    "--no-instructions",
)

# Given at every start rather than written into the data, so that a later version's values apply to old data too.
OPTIONS: Mapping[str, str] = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "shared_buffers": "64MB",
    "max_connections": "200",
    "max_wal_size": "256MB",
    "min_wal_size": "32MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_logical_replication_workers": "0",
    "io_method": "sync",
    "jit": "off",
    # Containers often have a tiny /dev/shm.
    "dynamic_shared_memory_type": "mmap",
    "max_parallel_workers_per_gather": "0",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    # Statements and row values are customers' data, which has no place in a log.
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
}
