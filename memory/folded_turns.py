"""Finished turns folded together: of a conversation's older turns only their ends stay, with all that was said.

A turn leaves a checkpoint a step. They are of use while the turn runs, and to whoever looks at what it did; later
they are the bulk of what a thread takes. What was said stays readable and forkable at the end of every turn.
"""

from __future__ import annotations

from collections.abc import Iterable

from memory.database import Database
from memory.sql_file import read_sql

WHOLE_TURNS = 3
"""The latest turns of a thread keep all their steps."""
THREADS_AT_ONCE = 1000

FOLD = read_sql("fold_turns.sql")
UNFOLDED = """
SELECT thread_id
FROM checkpoints
WHERE checkpoint_ns = '' AND metadata ->> 'source' = 'input'
GROUP BY thread_id
HAVING count(*) > %s
ORDER BY thread_id
LIMIT %s
"""


async def fold_turns(database: Database, thread_ids: Iterable[str], *, whole: int = WHOLE_TURNS) -> int:
    """Fold all but the latest `whole` turns of each thread; how many steps went."""
    gone = 0
    for thread_id in thread_ids:
        row = await database.fetch_one(FOLD, {"thread_id": thread_id, "namespace": "", "kept": whole})
        gone += int(row["steps"]) if row else 0
    return gone


async def fold_all_turns(database: Database) -> int:
    """Fold the threads that have steps to fold; how many steps went. For a job that runs now and then."""
    # The thread's first checkpoint is an input too, and stays.
    rows = await database.fetch(UNFOLDED, (WHOLE_TURNS + 1, THREADS_AT_ONCE))
    return await fold_turns(database, [row["thread_id"] for row in rows])
