"""All that is kept of a user, as JSON, for the user."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, LiteralString

from memory.clean import clean_json
from memory.database import Database
from memory.user_lock import checked_user_id

PARTS: Mapping[str, LiteralString] = {
    "memories": """
        SELECT memory_key AS key, content, memory_type AS type, importance, confidence, domains, scene, evidence,
               source_thread_id, source_message_id, created_at, updated_at, last_confirmed_at, valid_from, valid_to,
               superseded_by IS NOT NULL AS superseded
          FROM user_memory WHERE user_id = %(user_id)s ORDER BY valid_from, memory_key
    """,
    "user_summary": """
        SELECT summary, summary_at FROM user_memory_version WHERE user_id = %(user_id)s AND summary IS NOT NULL
    """,
    "sessions": """
        SELECT thread_id, last_activity_at, summary, key_facts FROM session_memory
         WHERE user_id = %(user_id)s ORDER BY last_activity_at
    """,
    "session_facts": """
        SELECT thread_id, fact_key AS key, content, memory_type AS type, confidence, evidence, said_at
          FROM session_fact WHERE user_id = %(user_id)s ORDER BY said_at
    """,
    "session_snapshots": """
        SELECT session_id AS thread_id, summary, key_facts, created_at, is_active
          FROM session_snapshot WHERE user_id = %(user_id)s ORDER BY created_at
    """,
    "recent_turns": """
        SELECT thread_id, turn_id, customer, answer, said_at FROM session_turn
         WHERE user_id = %(user_id)s AND customer <> '' ORDER BY said_at
    """,
}


async def export_user(
    database: Database, user_id: str, others: Mapping[str, LiteralString] | None = None
) -> dict[str, Any]:
    """A JSON-native object: one list a part. `others` are parts of other packages, by name.

    Everything was masked when it was stored, so the export holds no contact data either.
    """
    checked_user_id(user_id)
    result: dict[str, Any] = {"user_id": user_id, "exported_at": datetime.now(UTC).isoformat()}
    for name, query in {**PARTS, **(others or {})}.items():
        result[name] = [clean_json(row).value for row in await database.fetch(query, {"user_id": user_id})]
    return result
