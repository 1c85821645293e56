"""What happens to memory with time, by the hour: faded memories go, and what has outlived its retention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import LiteralString

import structlog
from psycopg.types.json import Jsonb

from memory.ageing import FADED, IMPORTANT, HalfLives
from memory.database import Database
from memory.folded_turns import fold_all_turns
from memory.settings import MemorySettings
from memory.thread_retention import delete_threads, expired_threads

log = structlog.get_logger(__name__)

PRUNE = """
DELETE FROM user_memory
 WHERE superseded_by IS NULL AND memory_type <> 'state' AND importance < %(important)s
   AND last_confirmed_at < %(now)s
       - make_interval(secs => 86400 * %(lives)s * coalesce((%(half_lives)s::jsonb ->> memory_type)::float8, 180))
"""
RETENTION = (
    # what was replaced or has ended, and what was not confirmed for the whole retention
    "DELETE FROM user_memory WHERE coalesce(valid_to, last_confirmed_at) < %(memory)s",
    "DELETE FROM session_fact WHERE created_at < %(snapshot)s",
    "DELETE FROM session_snapshot WHERE created_at < %(snapshot)s",
    "DELETE FROM session_turn WHERE processed_at < %(snapshot)s",
    "DELETE FROM session_memory WHERE last_activity_at < %(snapshot)s",
    """
    DELETE FROM user_memory_version AS version WHERE summary_at < %(snapshot)s
       AND NOT EXISTS (SELECT FROM user_memory WHERE user_id = version.user_id)
    """,
    """
    DELETE FROM procrastinate_jobs AS job WHERE status IN ('failed', 'cancelled', 'aborted')
       AND NOT EXISTS (SELECT FROM procrastinate_events WHERE job_id = job.id AND at >= %(ledger)s)
    """,
    # no job queued before a user was erased is left by then
    "DELETE FROM erased_user WHERE erased_at < %(ledger)s",
)


THREADS_AT_ONCE = 1000


async def maintain(
    database: Database, settings: MemorySettings, *, now: datetime, outdated: Sequence[LiteralString] = ()
) -> int:
    """Prune and expire; how many rows went. Safe to run at any time, by several workers at once.

    `outdated` are the statements of other packages for their ledgers, with `%(ledger)s` as the time before which
    rows go.
    """
    gone = await database.execute(
        PRUNE,
        {
            "now": now,
            "important": IMPORTANT,
            "lives": math.log2(1 / FADED),
            "half_lives": Jsonb(HalfLives.of(settings).by_type()),
        },
    )
    ends = {
        "memory": now - timedelta(days=settings.steward_retention_memory_days),
        "snapshot": now - timedelta(days=settings.steward_retention_snapshot_days),
        "ledger": now - timedelta(days=settings.steward_retention_ledger_days),
    }
    for statement in (*RETENTION, *outdated):
        gone += await database.execute(statement, ends)
    gone += await fold_all_turns(database)
    gone += await _forget_old_threads(database, settings.steward_retention_checkpoint_days)
    log.info("memory maintained", rows_gone=gone)
    return gone


async def _forget_old_threads(database: Database, days: int) -> int:
    """Conversations that nobody has touched for the whole retention go as wholes: their deltas hang together."""
    gone = 0
    while threads := await expired_threads(database, days=days, limit=THREADS_AT_ONCE):
        gone += await delete_threads(database, threads)
    return gone
