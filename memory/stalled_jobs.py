"""Jobs that are marked as being done and that nobody does: found, and put back into the queue.

A worker dies with the job in its hands; or it lives, and could not store how the job ended, because Postgres was away
in that moment or because the same thing had been queued again meanwhile. Left alone, such a job would hold up all that
shares its lock: everything that is to be remembered of a user.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import psycopg
import structlog
from procrastinate import JobContext
from procrastinate.jobs import Job
from procrastinate.manager import JobManager
from procrastinate.middleware import AsyncCallNext
from procrastinate.worker import Worker

from memory.database import Database

log = structlog.get_logger(__name__)

STALLED_SECONDS = 8.0
"""Without a heartbeat for so long, a worker is dead and its jobs go back into the queue."""

# The same thing was queued again while the job was in those hands. The new job cannot start before the old one is
# gone, and the old one cannot go back into the queue beside the new one.
SUPERFLUOUS = """
DELETE FROM procrastinate_jobs AS held
 WHERE id = %(id)s AND status = 'doing' AND worker_id IS NOT DISTINCT FROM %(worker)s
   AND EXISTS (SELECT FROM procrastinate_jobs WHERE queueing_lock = held.queueing_lock AND status = 'todo')
"""
PUT_BACK = """
UPDATE procrastinate_jobs SET status = 'todo', attempts = attempts + 1, scheduled_at = now()
 WHERE id = %(id)s AND status = 'doing' AND worker_id IS NOT DISTINCT FROM %(worker)s
"""


class StalledJobs:
    """Watches the jobs of a queue. One instance belongs to one process's worker."""

    def __init__(self, database: Database, manager: JobManager, queue: str) -> None:
        self._database = database
        self._manager = manager
        self._queue = queue
        self._running: set[int] = set()
        self._untold: dict[int, Job] = {}
        """Jobs that ran here and whose end could not be stored."""

    async def watch(self, run: AsyncCallNext, context: JobContext, _worker: Worker) -> Any:
        """The worker's middleware: know what runs here, and hear of an end that could not be stored."""
        job, task = context.job, asyncio.current_task()
        assert job.id is not None  # a job that runs has been stored
        assert task is not None
        self._running.add(job.id)
        self._untold.pop(job.id, None)
        task.add_done_callback(partial(self._ended, job.id, job))
        return await run()

    def _ended(self, job_id: int, job: Job, task: asyncio.Task[Any]) -> None:
        """The task has run the job and stored its end. What the job raised is dealt with by then."""
        self._running.discard(job_id)
        reason = "cancelled" if task.cancelled() else task.exception()
        if reason is not None:
            self._untold[job_id] = job
            log.warning(
                "end of a memory job not stored", job_id=job_id, task=job.task_name, error=str(reason)
            )

    async def put_back(self) -> None:
        """Put back what nobody works on: what dead workers held, and what ended here without a word."""
        stalled = await self._manager.get_stalled_jobs(
            queue=self._queue, seconds_since_heartbeat=STALLED_SECONDS
        )
        for job in stalled:
            if job.id not in self._running and await self._put_back(job):
                log.warning("memory job of a dead worker taken up again", job_id=job.id, task=job.task_name)
        for job_id, job in list(self._untold.items()):
            if self._untold.get(job_id) is job and await self._put_back(job):
                log.warning("memory job taken up again", job_id=job_id, task=job.task_name)
            self._untold.pop(job_id, None)

    async def _put_back(self, job: Job) -> bool:
        """Whether it was still in those hands."""
        held = {"id": job.id, "worker": job.worker_id}
        if await self._database.execute(SUPERFLUOUS, held):
            return False
        try:
            return await self._database.execute(PUT_BACK, held) == 1
        except psycopg.errors.UniqueViolation:  # queued again just now: superfluous at the next look
            return False
