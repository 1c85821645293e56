"""One turn at a time on a thread, across tasks and processes, without holding a connection while the turn runs."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, LiteralString, NamedTuple
from uuid import uuid4
from weakref import WeakValueDictionary

import structlog
from cachetools import LRUCache

from memory.database import Database
from memory.errors import DatabaseError, ThreadBusy

log = structlog.get_logger(__name__)

LEASE_SECONDS = 15.0
ALL_SECONDS = 60.0
"""A lease that is not renewed for so long is free: its process is gone or cut off."""
RENEW_SECONDS = 4.0
REMEMBERED = 1024
FIRST_PAUSE, LONGEST_PAUSE = 0.02, 0.5
"""Seconds between looks at a busy thread."""

# Whose thread it is, a run says; an update of the state is made in the name of whoever makes it.
TAKE = """
INSERT INTO thread_lease AS held (thread_id, owner, expires_at)
VALUES (%(thread)s, %(owner)s, now() + make_interval(secs => %(seconds)s))
ON CONFLICT (thread_id) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
WHERE held.expires_at < now() OR held.owner = %(dead)s
RETURNING (
    SELECT metadata ->> 'source' FROM checkpoints
    WHERE thread_id = %(thread)s AND checkpoint_ns = ''
    ORDER BY checkpoint_id DESC LIMIT 1
) AS source, (
    SELECT metadata ->> 'user_id' FROM checkpoints
    WHERE thread_id = %(thread)s AND checkpoint_ns = '' AND metadata ->> 'source' IN ('input', 'loop')
    ORDER BY checkpoint_id DESC LIMIT 1
) AS user_id, (
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM procrastinate_jobs_id_seq
) AS newest_job
"""
RENEW = """
UPDATE thread_lease SET expires_at = now() + make_interval(secs => %(seconds)s)
WHERE thread_id = %(thread)s AND owner = %(owner)s
"""
TAKE_ALL = """
INSERT INTO thread_lease AS held (thread_id, owner, expires_at)
SELECT thread_id, %(owner)s, now() + make_interval(secs => %(seconds)s)
FROM unnest(%(threads)s::text[]) AS thread_id
ON CONFLICT (thread_id) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
WHERE held.expires_at < now() OR held.owner = excluded.owner OR held.owner = ANY(%(dead)s)
RETURNING thread_id
"""
HOLDERS = "SELECT owner FROM thread_lease WHERE thread_id = ANY(%(threads)s) AND owner <> %(owner)s"
RELEASE_ALL = "DELETE FROM thread_lease WHERE thread_id = ANY(%(threads)s) AND owner = %(owner)s"
RELEASE = "DELETE FROM thread_lease WHERE thread_id = %(thread)s AND owner = %(owner)s"
HOLDER = "SELECT owner FROM thread_lease WHERE thread_id = %(thread)s"


class LastStep(NamedTuple):
    """Of the thread's latest checkpoint."""

    source: str
    """`input` (its run died before the first step), `loop`, `update`, `fork`."""
    user_id: str | None
    """Whose thread it is."""


@dataclass
class Lease:
    """The right to run a turn on a thread, until it is given back or runs out."""

    thread_id: str
    owner: str
    given_back: bool = False
    """Whoever stores the last step of the turn gives it back in the same statement."""


class Held(NamedTuple):
    """What is known of a thread as it is taken."""

    lease: Lease
    last_step: LastStep | None
    """None where there is no checkpoint yet."""
    newest_job: int
    """The memory job queued last, of anybody: what is erased from then on is erased after this run has begun."""


class ThreadLeases:
    """Hands out the right to run a turn on a thread. Belongs to one event loop."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queues: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._ended: LRUCache[str, None] = LRUCache(REMEMBERED)
        """Owners whose lease could not be given back: the database was away."""

    @asynccontextmanager
    async def hold(self, thread_id: str, *, patience: float) -> AsyncIterator[Held]:
        """Hold the thread; wait up to `patience` seconds for it (0: not at all). Raises ThreadBusy."""
        queue = self._queues.setdefault(thread_id, asyncio.Lock())
        if patience <= 0 and queue.locked():
            raise ThreadBusy()
        async with queue:
            lease = Lease(thread_id, _new_owner())
            held = await self._take(lease, patience)
            renewing = asyncio.create_task(self._renew(lease))
            try:
                yield held
            finally:
                renewing.cancel()
                if not lease.given_back:
                    await self._let_go(RELEASE, {"thread": thread_id, "owner": lease.owner})

    @asynccontextmanager
    async def hold_all(self, thread_ids: Iterable[str], *, patience: float) -> AsyncIterator[None]:
        """Hold these threads at once, when the turns that run on them have ended, for a minute at most.

        Raises ThreadBusy where one of them does not end within `patience` seconds.
        """
        threads = sorted(thread_ids)
        params = {"threads": threads, "owner": _new_owner(), "seconds": ALL_SECONDS, "dead": []}
        end = asyncio.get_running_loop().time() + patience
        try:
            while len(await self._database.fetch(TAKE_ALL, params)) < len(threads):
                owners = [row["owner"] for row in await self._database.fetch(HOLDERS, params)]
                params["dead"] = [owner for owner in owners if self._is_over(owner)]
                if asyncio.get_running_loop().time() >= end:
                    raise ThreadBusy()
                await asyncio.sleep(LONGEST_PAUSE)
            yield
        finally:
            await self._let_go(RELEASE_ALL, params)

    async def _take(self, lease: Lease, patience: float) -> Held:
        end = asyncio.get_running_loop().time() + patience
        pause = FIRST_PAUSE
        params = {"thread": lease.thread_id, "owner": lease.owner, "seconds": LEASE_SECONDS, "dead": ""}
        while (taken := await self._database.fetch_one(TAKE, params)) is None:
            held = await self._database.fetch_one(HOLDER, params)
            params["dead"] = held["owner"] if held and self._is_over(held["owner"]) else ""
            if params["dead"] or held is None:
                continue
            if asyncio.get_running_loop().time() >= end:
                raise ThreadBusy()
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, LONGEST_PAUSE)
        last_step = LastStep(taken["source"], taken["user_id"]) if taken["source"] else None
        return Held(lease, last_step, taken["newest_job"])

    async def _renew(self, lease: Lease) -> None:
        params = {"thread": lease.thread_id, "owner": lease.owner, "seconds": LEASE_SECONDS}
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            try:
                if not await self._database.execute(RENEW, params):
                    if not lease.given_back:
                        log.warning("thread lease lost", thread_id=lease.thread_id)
                    return
            except DatabaseError as error:
                log.warning("thread lease not renewed", thread_id=lease.thread_id, error=str(error))

    async def _let_go(self, statement: LiteralString, params: dict[str, Any]) -> None:
        try:
            await self._database.execute(statement, params)
        except DatabaseError as error:
            # It runs out by itself, and stands in nobody's way here; what it was held for must not fail by this.
            self._ended[params["owner"]] = None
            log.warning("thread lease not released", owner=params["owner"], error=str(error))

    def _is_over(self, owner: str) -> bool:
        """Whether what a lease was held for has ended without giving it back."""
        return owner in self._ended or _is_dead(owner)


def _new_owner() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex}"


def _is_dead(owner: str) -> bool:
    """A process of this machine that no longer runs. Of other machines only time tells."""
    host, pid, _ = owner.rsplit(":", 2)
    if host != socket.gethostname():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
