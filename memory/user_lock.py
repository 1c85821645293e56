"""One writer at a time for one user's memory, and nothing written for a user who has been erased since."""

from __future__ import annotations

import hashlib

from memory.database import Connection
from memory.errors import InvalidInput

LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 7018))"
ERASED = "SELECT last_job_id FROM erased_user WHERE user_hash = %s"
FORGET = """
INSERT INTO erased_user (user_hash, last_job_id)
VALUES (%s, nextval('procrastinate_jobs_id_seq'))
ON CONFLICT (user_hash) DO UPDATE SET last_job_id = excluded.last_job_id, erased_at = now()
"""


def checked_user_id(user_id: str) -> str:
    """The id as it is; InvalidInput where Postgres cannot hold it as it is (changing it could merge two users)."""
    try:
        user_id.encode()
    except UnicodeEncodeError:
        raise InvalidInput("A user id must be valid Unicode; it holds half of a character.") from None
    if not user_id or "\x00" in user_id:
        raise InvalidInput("A user id has at least one character, and no NUL.")
    return user_id


def user_hash(user_id: str) -> str:
    """What is kept of an erased user's id: enough to recognise a late job, not enough to know who it was."""
    return hashlib.sha256(b"steward user " + user_id.encode()).hexdigest()


async def lock_user(connection: Connection, user_id: str) -> None:
    """Wait until nobody else writes this user's memory; ends with the transaction."""
    await connection.execute(LOCK, (user_hash(user_id),))


async def erased_since(
    connection: Connection, user_id: str, job_id: int | None, after_job: int | None = None
) -> bool:
    """Whether the user was erased after this job was queued, or after the run began that queued it: when `after_job`
    was the newest job. Ask with the lock held."""
    return precedes(job_id, after_job, await last_erasure(connection, user_id))


async def last_erasure(connection: Connection, user_id: str) -> int | None:
    """When the user was last erased, in the count of jobs; None for never. Ask with the lock held."""
    cursor = await connection.execute(ERASED, (user_hash(user_id),))
    row = await cursor.fetchone()
    return int(row["last_job_id"]) if row else None


def precedes(job_id: int | None, after_job: int | None, erasure: int | None) -> bool:
    """Whether the job was queued, or the run that queued it had begun, before the erasure."""
    if erasure is None:
        return False
    return (job_id is not None and job_id <= erasure) or (after_job is not None and after_job < erasure)


async def mark_erased(connection: Connection, user_id: str) -> None:
    """From now on, jobs queued so far write nothing for this user, nor do those that runs which have begun will queue.

    Call it with the lock held."""
    await connection.execute(FORGET, (user_hash(user_id),))
