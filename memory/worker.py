"""The worker: takes jobs out of the queue and runs them, beside the agent or in a process of its own.

    worker = Worker(database, embedder, extractor, summariser, settings)
    await worker.run()                       # until cancelled
    await worker.drain(timeout=20)           # what is due now, then return

Any number of workers may run at once, and any of them may be killed at any moment: a job that a dead worker held
is taken up again once its heartbeat is missed, and what a job writes it writes once.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString

import psycopg
import structlog
from procrastinate import App, JobContext, exceptions
from procrastinate.jobs import Job
from procrastinate.retry import BaseRetryStrategy, RetryDecision

from memory.database import Database
from memory.embeddings import Embedder
from memory.errors import StewardError
from memory.extraction import Extractor, Summariser
from memory.folded_turns import fold_turns
from memory.maintenance import maintain
from memory.queue import (
    FOLD_HISTORY,
    MAINTAIN,
    QUEUE,
    REMEMBER_TURN,
    SNAPSHOT_SESSION,
    SUMMARISE_USER,
    FoldRequest,
    MemoryQueue,
)
from memory.remember import Remembering, queued_turn
from memory.session import Sessions
from memory.settings import MemorySettings
from memory.stalled_jobs import STALLED_SECONDS, StalledJobs

log = structlog.get_logger(__name__)

CONCURRENCY = 4
"""Jobs at once; they wait for models most of the time."""
POLL_SECONDS = 2.0
HEARTBEAT_SECONDS = 2.0
STOP_SECONDS = 2.0
"""For running jobs when the worker is told to stop; then they go back into the queue."""
RESTART_SECONDS = 1.0
LOOK_SECONDS = 4.0
"""Between looks for jobs that nobody works on."""
DRAIN_POLL_SECONDS = 0.1
MAINTENANCE = "17 * * * *"
"""When memories are aged and what is outdated goes, as cron has it; a worker that starts makes up for ten minutes."""

LEFT = """
SELECT count(*) AS jobs FROM procrastinate_jobs
 WHERE queue_name = %(queue)s
   AND (%(turn)s::text IS NULL OR right(queueing_lock, length(%(turn)s) + 1) = ':' || %(turn)s)
   AND (status = 'doing' OR status = 'todo' AND (scheduled_at IS NULL OR scheduled_at <= now()))
"""

FAILURES = (psycopg.Error, StewardError, exceptions.ProcrastinateException)


class BackOff(BaseRetryStrategy):
    """Tries again after 5 s, 15 s, … at most an hour, for some four hours; then the job is given up.

    A job that waits this way steps back behind the user's other jobs, so that it does not hold them up.
    """

    attempts = 10
    first_seconds = 5.0
    longest_seconds = 3600.0

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, asyncio.CancelledError | exceptions.JobAborted):
            return RetryDecision(retry_at=datetime.now(UTC))
        if job.attempts + 1 >= self.attempts:
            log.error("memory job given up", job_id=job.id, task=job.task_name, error=str(exception))
            return None
        wait = min(self.first_seconds * 3**job.attempts, self.longest_seconds)
        wait *= random.uniform(0.8, 1.2)
        return RetryDecision(
            retry_at=datetime.now(UTC) + timedelta(seconds=wait), priority=-(job.attempts + 1)
        )


class Worker:
    """Runs the memory jobs. One instance belongs to one event loop."""

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        extractor: Extractor,
        summariser: Summariser,
        settings: MemorySettings,
        *,
        outdated: Sequence[LiteralString] = (),
    ) -> None:
        self._outdated = outdated
        self._database = database
        self._embedder = embedder
        self._settings = settings
        self._remembering = Remembering(database, embedder, extractor, settings)
        self._sessions = Sessions(database, embedder, summariser)
        self._queue = MemoryQueue(database)
        self._stalled = StalledJobs(database, self._queue.app.job_manager, QUEUE)
        _register(self._queue.app, self)

    async def run(self) -> None:
        """Work until cancelled. A database that goes away is waited for."""
        async with self._putting_back():
            while True:
                try:
                    # PgBouncer hands on no notifications in transaction mode: what is due is found by polling.
                    await self._work(listen=not self._database.pgbouncer, poll_seconds=POLL_SECONDS)
                    log.warning("memory worker starts again", error="its heartbeat or its listener failed")
                except Exception as error:
                    _tell("memory worker starts again", error)
                _end_if_cancelled()
                await asyncio.sleep(RESTART_SECONDS)

    async def drain(self, timeout: float | None = None, turn_id: str | None = None) -> bool:  # noqa: ASYNC109
        """Run what is due now, of one turn or of all, also beside a running worker; whether all of it is done.

        Not longer than `timeout` seconds; None: as long as it takes. Jobs that a killed worker left are waited for
        and run. What still runs when the time is up goes back into the queue. Raises DatabaseUnavailable.
        """
        try:
            async with asyncio.timeout(timeout):
                while await self._left(turn_id):
                    try:
                        await self._work_on(turn_id)
                    except exceptions.ConnectorException as error:
                        _tell("memory worker starts again", error)
                        await asyncio.sleep(RESTART_SECONDS)
                return True
        except TimeoutError:
            return not await self._left(turn_id)

    async def _work_on(self, turn_id: str | None) -> None:
        """Work until nothing is left that is due, or of the turn."""
        working = asyncio.create_task(self._work(listen=False, poll_seconds=DRAIN_POLL_SECONDS))
        try:
            async with self._putting_back():
                while not working.done() and await self._left(turn_id):
                    await asyncio.wait([working], timeout=DRAIN_POLL_SECONDS)
            if working.done():
                await working
        finally:
            working.cancel()
            with suppress(asyncio.CancelledError):
                await working

    async def _work(self, *, listen: bool, poll_seconds: float) -> None:
        """Take and run jobs until cancelled: those that run then have some seconds to end."""
        await self._queue.app.run_worker_async(
            queues=[QUEUE],
            name="memory",
            concurrency=CONCURRENCY,
            listen_notify=listen,
            fetch_job_polling_interval=poll_seconds,
            update_heartbeat_interval=HEARTBEAT_SECONDS,
            stalled_worker_timeout=STALLED_SECONDS,
            shutdown_graceful_timeout=STOP_SECONDS,
            delete_jobs="successful",
            install_signal_handlers=False,
            worker_middleware=[self._stalled.watch],
        )

    async def _left(self, turn_id: str | None) -> bool:
        row = await self._database.fetch_one(LEFT, {"queue": QUEUE, "turn": turn_id})
        return bool(row and row["jobs"])

    @asynccontextmanager
    async def _putting_back(self) -> AsyncIterator[None]:
        """Look for jobs that nobody works on, now and then."""
        looking = asyncio.create_task(self._put_back_forever(), name="stalled memory jobs")
        try:
            yield
        finally:
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking

    async def _put_back_forever(self) -> None:
        while True:
            try:
                await self._stalled.put_back()
            except Exception as error:
                _tell("stalled memory jobs not looked for", error)
            _end_if_cancelled()
            await asyncio.sleep(LOOK_SECONDS)

    async def remember_turn(self, job_id: int, arguments: dict[str, Any]) -> None:
        """One finished turn, and the user's other waiting ones."""
        own = queued_turn(job_id, arguments)
        ids = {"job_id": job_id, "thread_id": own.exchange.thread_id, "turn_id": own.exchange.turn_id}
        with structlog.contextvars.bound_contextvars(**ids):
            threads = await self._remembering.run(own)
            await fold_turns(self._database, threads)
        idle_at = datetime.now(UTC) + timedelta(seconds=self._settings.steward_idle_seconds)
        for thread_id in threads:
            await self._queue.enqueue_snapshot(own.exchange.user_id, thread_id, idle_at)

    async def snapshot_session(self, job_id: int, user_id: str, thread_id: str) -> None:
        """The session's snapshot once it is idle; put off while the user goes on."""
        later = await self._sessions.idle_at(thread_id, self._settings.steward_idle_seconds)
        if later is not None:
            await self._queue.enqueue_snapshot(user_id, thread_id, later)
            return
        await self._sessions.snapshot(user_id, thread_id, job_id=job_id)
        if await self._sessions.user_summary_is_stale(user_id):
            await self._queue.enqueue_user_summary(user_id)

    async def fold_history(self, job_id: int, request: dict[str, Any]) -> None:
        await self._sessions.fold(FoldRequest.from_json(request), job_id=job_id)

    async def summarise_user(self, job_id: int, user_id: str) -> None:
        await self._sessions.summarise_user(user_id, job_id=job_id)

    async def maintain(self) -> None:
        await maintain(self._database, self._settings, now=datetime.now(UTC), outdated=self._outdated)


def _tell(event: str, error: Exception) -> None:
    """One line for what happens when a database goes away; more where nobody has thought of it."""
    if isinstance(error.__cause__, psycopg.errors.ForeignKeyViolation):
        error = StewardError(
            "Its heartbeat came late, and it was taken for dead; it goes on under a new number."
        )
    log.warning(event, error=str(error), exc_info=not isinstance(error, FAILURES))


def _end_if_cancelled() -> None:
    """A cancellation in the midst of a statement may come out as that statement's error, and must not be lost in it."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _register(app: App, worker: Worker) -> None:
    """The tasks, by the names that the queue uses. A job of an erased user has no arguments left: nothing to do."""
    retry = BackOff()

    @app.task(name=REMEMBER_TURN, queue=QUEUE, pass_context=True, retry=retry)
    async def remember_turn(context: JobContext, /, **arguments: Any) -> None:
        if arguments:
            await worker.remember_turn(_id(context), arguments)

    @app.task(name=SNAPSHOT_SESSION, queue=QUEUE, pass_context=True, retry=retry)
    async def snapshot_session(context: JobContext, /, **arguments: Any) -> None:
        if arguments:
            await worker.snapshot_session(_id(context), arguments["user_id"], arguments["thread_id"])

    @app.task(name=FOLD_HISTORY, queue=QUEUE, pass_context=True, retry=retry)
    async def fold_history(context: JobContext, /, **arguments: Any) -> None:
        if arguments:
            await worker.fold_history(_id(context), arguments["request"])

    @app.task(name=SUMMARISE_USER, queue=QUEUE, pass_context=True, retry=retry)
    async def summarise_user(context: JobContext, /, **arguments: Any) -> None:
        if arguments:
            await worker.summarise_user(_id(context), arguments["user_id"])

    @app.periodic(cron=MAINTENANCE)
    @app.task(name=MAINTAIN, queue=QUEUE, queueing_lock=MAINTAIN, lock=MAINTAIN)
    async def maintain_memory(timestamp: int) -> None:
        await worker.maintain()


def _id(context: JobContext) -> int:
    assert context.job.id is not None  # a job that runs has been stored
    return context.job.id
