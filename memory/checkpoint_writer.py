"""Stores checkpoints in batches: what the runs of an event loop have to store at a time goes in one statement.

A run's steps follow each other faster than a database commits. What may wait (a step that another follows) waits
a few milliseconds for company; the last step of a run, an interrupt and an error wait for nothing and are
stored when the call returns. The order of a thread's entries is kept: a checkpoint never comes before its parent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

import structlog
from cachetools import LRUCache
from tenacity import retry, retry_if_exception_type, stop_after_attempt

from memory.checkpoint_rows import Batch, Entry, Place, WriteRow
from memory.database import Database
from memory.errors import ConnectionDropped, DatabaseUnavailable
from memory.sql_file import read_sql

log = structlog.get_logger(__name__)

LINGER_SECONDS = 0.015
"""For what may wait."""
REMEMBERED = 4096
"""Failed checkpoints, and writes that a later checkpoint may outdate."""

ATTEMPTS = 3
"""At a statement whose connection is lost while it runs."""

STORE = read_sql("store_checkpoints.sql")


class _Failure(NamedTuple):
    """Why a checkpoint is not, or not wholly, stored."""

    thread_id: str
    error: Exception


class CheckpointWriter:
    """Belongs to one event loop. Raises DatabaseUnavailable or psycopg's errors, at the entry that failed or, where
    that was not waited for, at the next one that builds on it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: list[Entry] = []
        self._put = self._done = 0
        """Entries so far: taken in, and dealt with."""
        self._timer: asyncio.TimerHandle | None = None
        self._storing: asyncio.Task[None] | None = None
        self._failed: LRUCache[str, _Failure] = LRUCache(REMEMBERED)
        self._stored: LRUCache[Place, list[WriteRow]] = LRUCache(REMEMBERED)

    async def put(self, entry: Entry, *, may_wait: bool) -> None:
        """Store an entry: soon, or before this returns."""
        self._check(entry.needs)
        self._waiting.append(entry)
        self._put += 1
        if may_wait:
            self._store_soon()
            return
        await self.flush()
        self._check(entry.makes)

    async def flush(self) -> None:
        """Return when everything that was put so far is stored, or has failed."""
        last = self._put
        while self._done < last:
            if self._storing is None:
                self._start()
            assert self._storing is not None
            await asyncio.shield(self._storing)

    def forget_failures(self, thread_id: str) -> None:
        """A run begins anew from what is stored: what an earlier one has lost there is in its way no more.

        Only where no run of this process goes on with the thread: it would build on what it has lost.
        """
        for checkpoint_id in [id for id, failure in self._failed.items() if failure.thread_id == thread_id]:
            del self._failed[checkpoint_id]

    def _check(self, checkpoint_id: str | None) -> None:
        if checkpoint_id is not None and (failure := self._failed.get(checkpoint_id)):
            raise failure.error

    def _store_soon(self) -> None:
        if self._timer is None and self._storing is None:
            self._timer = asyncio.get_running_loop().call_later(LINGER_SECONDS, self._start)

    def _start(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._storing is None and self._waiting:
            entries, self._waiting = self._waiting, []
            self._storing = asyncio.get_running_loop().create_task(self._deal_with(entries))

    async def _deal_with(self, entries: Sequence[Entry]) -> None:
        try:
            await self._store(entries)
        finally:
            # Here, not in a callback of the task: who awaits a task that is done does not let callbacks run.
            self._storing = None
            self._done += len(entries)
            if self._waiting:
                self._store_soon()

    async def _store(self, entries: Sequence[Entry]) -> None:
        entries = [entry for entry in entries if not self._is_lost(entry)]
        if not entries:
            return
        try:
            await self._send(Batch.of(entries, self._stored))
        except Exception as error:
            threads = _by_thread(entries)
            if isinstance(error, DatabaseUnavailable) or len(threads) == 1:
                log.error("checkpoints not stored", checkpoints=len(entries), error=type(error).__name__)
                self._failed.update({entry.makes: _Failure(_thread_of(entry), error) for entry in entries})
                return
            for of_one_thread in threads:  # one thread's trouble is not the others'
                await self._store(of_one_thread)

    @retry(retry=retry_if_exception_type(ConnectionDropped), stop=stop_after_attempt(ATTEMPTS), reraise=True)
    async def _send(self, batch: Batch) -> None:
        """Sent again where the connection is lost meanwhile: stored twice is stored once."""
        async with self._database.connection() as connection:
            await connection.execute(STORE, batch.parameters())
        for lease in batch.leases:
            lease.given_back = True
        for step in batch.steps.values():
            if step.parent_id is not None:
                self._stored.pop(Place(step.thread_id, step.namespace, step.parent_id), None)
        for write in batch.writes.values():
            self._stored.setdefault(write.place, []).append(write._replace(blob=b""))

    def _is_lost(self, entry: Entry) -> bool:
        failure = self._failed.get(entry.needs) if entry.needs is not None else None
        if failure is not None:
            self._failed[entry.makes] = failure
        return failure is not None


def _by_thread(entries: Sequence[Entry]) -> list[list[Entry]]:
    threads: dict[str, list[Entry]] = {}
    for entry in entries:
        threads.setdefault(_thread_of(entry), []).append(entry)
    return list(threads.values())


def _thread_of(entry: Entry) -> str:
    rows = [entry.step] if entry.step else entry.writes
    return rows[0].thread_id if rows else ""
