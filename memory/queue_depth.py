"""How many jobs wait, as an OpenTelemetry gauge: `steward.memory.queue.jobs`, by status (O5).

The SDK asks in a thread of its own; the figure is fetched through the event loop that the database belongs to.
With the API alone nobody asks, and nothing is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from concurrent.futures import CancelledError, TimeoutError
from threading import Lock
from typing import Final
from weakref import ReferenceType, WeakKeyDictionary, ref

from opentelemetry import metrics
from opentelemetry.metrics import CallbackOptions, Observation
from psycopg import Error as PostgresError

from memory.database import Database
from memory.errors import DatabaseError
from memory.queue import QUEUE

PATIENCE: Final = 2.0
"""Seconds that one collection waits for the figures."""
STATUSES: Final = ("todo", "scheduled", "doing", "failed")
DEPTH: Final = """
SELECT CASE WHEN status = 'todo' AND scheduled_at > now() THEN 'scheduled' ELSE status::text END AS status,
       count(*) AS jobs
FROM procrastinate_jobs
WHERE queue_name = %s AND status IN ('todo', 'doing', 'failed')
GROUP BY 1
"""


async def waiting_jobs(database: Database) -> dict[str, int]:
    """Jobs by status: due (`todo`), due later (`scheduled`), in work (`doing`), given up (`failed`)."""
    rows = await database.fetch(DEPTH, (QUEUE,))
    return {**dict.fromkeys(STATUSES, 0), **{row["status"]: row["jobs"] for row in rows}}


class _Databases:
    """The open databases of this process, one an event loop."""

    def __init__(self) -> None:
        self._lock = Lock()
        # The database knows its loop, so only a weak reference lets the loop go.
        self._open: WeakKeyDictionary[asyncio.AbstractEventLoop, ReferenceType[Database]]
        self._open = WeakKeyDictionary()

    def add(self, database: Database) -> None:
        with self._lock:
            self._open[asyncio.get_running_loop()] = ref(database)

    def observe(self, _: CallbackOptions) -> Iterable[Observation]:
        """The figures of the first database that answers; none where all are closed or busy."""
        with self._lock:
            open_now = [(loop, found()) for loop, found in self._open.items()]
        for loop, database in open_now:
            if database is None or not loop.is_running():
                continue
            if (jobs := _asked(loop, database)) is not None:
                return [Observation(count, {"steward.job.status": status}) for status, count in jobs.items()]
        return []


def _asked(loop: asyncio.AbstractEventLoop, database: Database) -> dict[str, int] | None:
    if _running_here() is loop:
        return None  # a collection forced from inside the loop cannot wait for it
    future = asyncio.run_coroutine_threadsafe(waiting_jobs(database), loop)
    try:
        return future.result(PATIENCE)
    except (TimeoutError, CancelledError, DatabaseError, PostgresError):
        future.cancel()
        return None


def _running_here() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


_databases = _Databases()
metrics.get_meter("steward.memory").create_observable_gauge(
    "steward.memory.queue.jobs",
    [_databases.observe],
    "{job}",
    "Memory jobs by status, of all processes together",
)


def watch_queue(database: Database) -> None:
    """Report the queue of this database while the running event loop lives."""
    _databases.add(database)
