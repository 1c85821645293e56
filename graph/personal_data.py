"""All that is kept of a user, in every layer: erased in one go, or given out (M10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, LiteralString

from memory.database import Database
from memory.erase import Erasure, forget_user
from memory.export import export_user
from tools.ledger import ERASURE as TOOL_CALLS
from tools.ledger import RETENTION as TOOL_CALL_RETENTION

LEDGERS = Erasure(
    threads=(
        "SELECT DISTINCT thread_id FROM token_usage WHERE user_id = %(user_id)s",
        "SELECT DISTINCT thread_id FROM turn_feedback WHERE user_id = %(user_id)s",
        "SELECT DISTINCT thread_id FROM checkpoints WHERE metadata ->> 'user_id' = %(user_id)s",
    ),
    statements=(
        "DELETE FROM turn_feedback WHERE user_id = %(user_id)s",
        # What was spent stays in the books, with nobody's name on it.
        "UPDATE token_usage SET user_id = '', thread_id = '', turn_id = '' WHERE user_id = %(user_id)s",
    ),
)
OUTDATED: tuple[LiteralString, ...] = (
    TOOL_CALL_RETENTION,
    "DELETE FROM token_usage WHERE created_at < %(ledger)s",
    "DELETE FROM turn_feedback WHERE created_at < %(ledger)s",
)
"""What the ledgers forget when their retention is over."""
LEDGER_PARTS: Mapping[str, LiteralString] = {
    "tool_calls": """
        SELECT thread_id, turn_id, tool, arguments, status, error_kind, result, started_at
          FROM tool_call WHERE user_id = %(user_id)s ORDER BY started_at
    """,
    "token_usage": """
        SELECT thread_id, turn_id, role, model, prompt_tokens, completion_tokens, cost, created_at
          FROM token_usage WHERE user_id = %(user_id)s ORDER BY created_at
    """,
    "feedback": """
        SELECT turn_id, thread_id, rating, reason, by_role, created_at
          FROM turn_feedback WHERE user_id = %(user_id)s ORDER BY created_at
    """,
}


async def erase(database: Database, user_id: str) -> int:
    """Erase a user: memories, sessions, conversations, queued jobs, ledgers. How many rows that touched.

    The business's own records (orders, tickets) are the business's to keep. Waits for the user's turns that
    run. Raises InvalidInput, ThreadBusy.
    """
    return await forget_user(database, user_id, [TOOL_CALLS, LEDGERS])


async def export(database: Database, user_id: str) -> dict[str, Any]:
    """A JSON-native object with one list a part. Raises InvalidInput."""
    return await export_user(database, user_id, LEDGER_PARTS)
