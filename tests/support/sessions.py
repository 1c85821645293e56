"""Sessions of a database that are ended from outside."""

from __future__ import annotations

import time

import psycopg

KILL_OTHERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


def end_others(connection: psycopg.Connection) -> None:
    """Have the server end all other sessions of the database, and see them gone."""
    while connection.execute(KILL_OTHERS).fetchall():
        time.sleep(0.01)
