"""The durable queue of what is to be remembered: jobs in Postgres, put there by one INSERT each.

await queue.enqueue_turn(exchange)      # at the end of a turn: masked, one round trip, no model, no embedding
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from procrastinate import App, exceptions
from procrastinate.types import JSONDict

from memory.clean import clean_text
from memory.database import Database
from memory.extraction import Exchange
from memory.masking import mask
from memory.queue_connector import PoolConnector
from memory.settings import MemorySettings
from memory.user_lock import checked_user_id

QUEUE = "memory"
REMEMBER_TURN = "remember_turn"
SNAPSHOT_SESSION = "snapshot_session"
SUMMARISE_USER = "summarise_user"
FOLD_HISTORY = "fold_history"
MAINTAIN = "maintain_memory"

FAILED = """
SELECT id, task_name AS task, args ->> 'user_id' AS user_id, attempts,
       (SELECT max(at) FROM procrastinate_events WHERE job_id = job.id AND type = 'failed') AS failed_at
  FROM procrastinate_jobs AS job
 WHERE status = 'failed' AND queue_name = %s
 ORDER BY id
"""
RETRY_FAILED = """
SELECT procrastinate_retry_job_v2(id, now(), 0, NULL, NULL)
  FROM procrastinate_jobs WHERE status = 'failed' AND queue_name = %s
"""
WAITS = """
SELECT 1 FROM procrastinate_jobs WHERE queueing_lock = %(lock)s AND status = 'todo'
UNION ALL
SELECT 1 FROM procrastinate_jobs WHERE lock = %(lock)s AND status = 'doing'
LIMIT 1
"""
DEPTH = """
SELECT status::text AS status, count(*) AS jobs FROM procrastinate_jobs WHERE queue_name = %s GROUP BY status
"""


@dataclass(frozen=True)
class FoldRequest:
    """Messages of a thread that leave its context and are to live on in the rolling summary."""

    user_id: str
    thread_id: str
    messages: Sequence[tuple[str, str]]
    """Who spoke (`customer`, `agent`, …) and what, the oldest first: all that `after` does not cover yet."""
    until: str
    """Id of the newest of these messages."""
    after: str | None = None
    """`folded_until` as the turn saw it; a fold that was overtaken changes nothing."""
    after_job: int | None = None
    """As of `Exchange`."""

    def masked(self) -> FoldRequest:
        texts = tuple((speaker, mask(clean_text(text))) for speaker, text in self.messages)
        return replace(self, messages=texts)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "messages": [list(message) for message in self.messages]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> FoldRequest:
        messages = tuple((speaker, text) for speaker, text in value["messages"])
        known = {name: value[name] for name in cls.__dataclass_fields__ if name in value}
        return cls(**{**known, "messages": messages})


@dataclass(frozen=True)
class FailedJob:
    """A job that was given up; `doctor` names it."""

    id: int
    task: str
    user_id: str | None
    attempts: int
    failed_at: datetime | None


class MemoryQueue:
    """Puts jobs into the queue. What is queued already is left as it is."""

    def __init__(self, database: Database, settings: MemorySettings | None = None) -> None:
        self._database = database
        self.app = App(connector=PoolConnector(database))

    async def enqueue_turn(self, exchange: Exchange) -> None:
        """Queue a finished turn, masked. One INSERT."""
        masked = exchange.masked()
        await self._defer(
            REMEMBER_TURN,
            {"user_id": checked_user_id(exchange.user_id), "exchange": masked.to_json()},
            lock=user_lock(exchange.user_id),
            queueing_lock=f"turn:{exchange.thread_id}:{exchange.turn_id}",
        )

    async def has_fold(self, thread_id: str) -> bool:
        """Whether older messages of a thread wait for the rolling summary, or are being summarised."""
        return await self._database.fetch_one(WAITS, {"lock": _fold_lock(thread_id)}) is not None

    async def enqueue_fold(self, request: FoldRequest) -> None:
        """Queue older messages for the rolling summary, masked."""
        masked, lock = request.masked(), _fold_lock(request.thread_id)
        await self._defer(
            FOLD_HISTORY,
            {"user_id": checked_user_id(request.user_id), "request": masked.to_json()},
            lock=lock,
            queueing_lock=lock,
        )

    async def enqueue_snapshot(self, user_id: str, thread_id: str, at: datetime) -> None:
        """Have the session summarised at a time, if it is still idle then. One such job a session."""
        await self._defer(
            SNAPSHOT_SESSION,
            {"user_id": user_id, "thread_id": thread_id},
            lock=f"snapshot:{thread_id}",
            queueing_lock=f"snapshot:{thread_id}",
            at=at,
        )

    async def enqueue_user_summary(self, user_id: str) -> None:
        """Have the user's cached summary made anew, if their memories have changed since."""
        name = f"summary:{user_id}"
        await self._defer(SUMMARISE_USER, {"user_id": user_id}, lock=name, queueing_lock=name)

    async def depth(self) -> dict[str, int]:
        """Jobs by status: `todo`, `doing`, `failed`."""
        rows = await self._database.fetch(DEPTH, (QUEUE,))
        return {row["status"]: row["jobs"] for row in rows}

    async def _defer(
        self, task: str, arguments: JSONDict, *, lock: str, queueing_lock: str, at: datetime | None = None
    ) -> None:
        deferrer = self.app.configure_task(
            task, queue=QUEUE, lock=lock, queueing_lock=queueing_lock, schedule_at=at
        )
        try:
            await deferrer.defer_async(**arguments)
        except exceptions.AlreadyEnqueued:
            return


def user_lock(user_id: str) -> str:
    """Jobs that share it run one after the other."""
    return f"user:{user_id}"


def _fold_lock(thread_id: str) -> str:
    return f"fold:{thread_id}"


async def failed_jobs(database: Database) -> list[FailedJob]:
    """Jobs that were given up after all their attempts."""
    return [FailedJob(**row) for row in await database.fetch(FAILED, (QUEUE,))]


async def retry_failed_jobs(database: Database) -> int:
    """Give the jobs that were given up another round of attempts; how many."""
    return len(await database.fetch(RETRY_FAILED, (QUEUE,)))
