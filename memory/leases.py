"""One turn at a time on a thread, across tasks and processes, without holding a connection while the turn runs."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple
from uuid import uuid4
from weakref import WeakValueDictionary

import structlog

from memory.database import Database
from memory.errors import DatabaseError, ThreadBusy

log = structlog.get_logger(__name__)

LEASE_SECONDS = 15.0
"""A lease that is not renewed for so long is free: its process is gone or cut off."""
RENEW_SECONDS = 4.0
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
) AS user_id
"""
RENEW = """
UPDATE thread_lease SET expires_at = now() + make_interval(secs => %(seconds)s)
WHERE thread_id = %(thread)s AND owner = %(owner)s
"""
RELEASE = "DELETE FROM thread_lease WHERE thread_id = %(thread)s AND owner = %(owner)s"
HOLDER = "SELECT owner FROM thread_lease WHERE thread_id = %(thread)s"


class LastStep(NamedTuple):
    """Of the thread's latest checkpoint."""

    source: str
    """`input` (its run died before the first step), `loop`, `update`, `fork`."""
    user_id: str | None
    """Whose thread it is."""


class ThreadLeases:
    """Hands out the right to run a turn on a thread. Belongs to one event loop."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queues: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, thread_id: str, *, patience: float) -> AsyncIterator[LastStep | None]:
        """Hold the thread; wait up to `patience` seconds for it (0: not at all). Raises ThreadBusy.

        Gives what is known of the thread's latest checkpoint; None where there is none.
        """
        queue = self._queues.setdefault(thread_id, asyncio.Lock())
        if patience <= 0 and queue.locked():
            raise ThreadBusy()
        async with queue:
            owner = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex}"
            last_step = await self._take(thread_id, owner, patience)
            renewing = asyncio.create_task(self._renew(thread_id, owner))
            try:
                yield last_step
            finally:
                renewing.cancel()
                await self._release(thread_id, owner)

    async def _take(self, thread_id: str, owner: str, patience: float) -> LastStep | None:
        end = asyncio.get_running_loop().time() + patience
        pause = FIRST_PAUSE
        params = {"thread": thread_id, "owner": owner, "seconds": LEASE_SECONDS, "dead": ""}
        while (taken := await self._database.fetch_one(TAKE, params)) is None:
            held = await self._database.fetch_one(HOLDER, params)
            params["dead"] = held["owner"] if held and _is_dead(held["owner"]) else ""
            if params["dead"] or held is None:
                continue
            if asyncio.get_running_loop().time() >= end:
                raise ThreadBusy()
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, LONGEST_PAUSE)
        return LastStep(**taken) if taken["source"] else None

    async def _renew(self, thread_id: str, owner: str) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            try:
                params = {"thread": thread_id, "owner": owner, "seconds": LEASE_SECONDS}
                if not await self._database.execute(RENEW, params):
                    log.warning("thread lease lost", thread_id=thread_id)
                    return
            except DatabaseError as error:
                log.warning("thread lease not renewed", thread_id=thread_id, error=str(error))

    async def _release(self, thread_id: str, owner: str) -> None:
        try:
            await self._database.execute(RELEASE, {"thread": thread_id, "owner": owner})
        except DatabaseError as error:
            # It runs out by itself; the turn's own outcome must not be hidden behind this.
            log.warning("thread lease not released", thread_id=thread_id, error=str(error))


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
