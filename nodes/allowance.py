"""What one user may use in a day: tokens and turns, both without a limit unless a setting names one (O8)."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import structlog
from psycopg import Error as PostgresError

from memory.errors import DatabaseError
from nodes.run import Run

log = structlog.get_logger(__name__)

USED = """
SELECT coalesce(sum(prompt_tokens + completion_tokens), 0) AS tokens,
       count(DISTINCT turn_id) FILTER (WHERE turn_id <> '') AS turns
  FROM token_usage
 WHERE user_id = %s AND created_at >= %s
"""


async def allowance_used_up(run: Run) -> bool:
    """Whether the user has reached a limit of the day, which begins at midnight in the settings' time zone.

    Asks the ledger only where a limit is set. A ledger that cannot be read lets the turn pass.
    """
    tokens, turns = run.settings.steward_day_tokens, run.settings.steward_day_turns
    if tokens is None and turns is None:
        return False
    now = datetime.now(ZoneInfo(run.settings.steward_timezone))
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0).astimezone(UTC)
    try:
        used = await run.services.database.fetch_one(USED, (run.context.user_id, midnight))
    except (DatabaseError, PostgresError) as error:
        log.warning("the day's use could not be read; the turn passes", error=str(error))
        return False
    assert used is not None, "an aggregate without groups gives exactly one row"
    over_tokens = tokens is not None and used["tokens"] >= tokens
    return over_tokens or (turns is not None and used["turns"] >= turns)
