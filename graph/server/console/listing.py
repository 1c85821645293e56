"""Conversations as the page lists them: the latest, those that hold some words, those that are with a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, LiteralString, TypedDict

from langgraph.checkpoint.base import CheckpointTuple

from graph.threads import latest_checkpoints, values, waiting
from memory.checkpoints import make_checkpointer
from nodes.run import Services
from nodes.state import Handoff

PAGE = 30
MOST_HANDED_OVER = 200
LONGEST = 300
"""Characters shown of a message."""

# Threads by their latest checkpoint, newest first. Ids of checkpoints are ordered by time; `before` is one of them.
LATEST = """
SELECT thread_id, checkpoint_id
FROM checkpoints AS latest
WHERE checkpoint_ns = ''
  AND (%(before)s::text IS NULL OR checkpoint_id < %(before)s)
  AND NOT EXISTS (
      SELECT FROM checkpoints AS newer
      WHERE newer.thread_id = latest.thread_id AND newer.checkpoint_ns = ''
        AND newer.checkpoint_id > latest.checkpoint_id
  )
ORDER BY checkpoint_id DESC
LIMIT %(limit)s
"""
# Threads in which the words stand, or whose name or user they are, newest first. Conversations themselves may be
# encrypted: looked at are the masked words of recent turns, summaries, and arguments of tool calls.
SEARCH = """
WITH found AS (
    SELECT thread_id FROM session_turn
    WHERE user_id ILIKE %(like)s OR customer ILIKE %(like)s OR answer ILIKE %(like)s
    UNION SELECT thread_id FROM session_memory WHERE user_id ILIKE %(like)s OR summary ILIKE %(like)s
    UNION SELECT session_id FROM session_snapshot WHERE summary ILIKE %(like)s
    UNION SELECT thread_id FROM tool_call WHERE user_id = %(words)s OR arguments::text ILIKE %(like)s
    UNION SELECT thread_id FROM token_usage WHERE user_id = %(words)s
    UNION SELECT thread_id FROM checkpoints WHERE thread_id = %(words)s AND checkpoint_ns = ''
)
SELECT found.thread_id, latest.checkpoint_id
FROM found
CROSS JOIN LATERAL (
    SELECT checkpoint_id FROM checkpoints
    WHERE checkpoints.thread_id = found.thread_id AND checkpoint_ns = ''
    ORDER BY checkpoint_id DESC LIMIT 1
) AS latest
WHERE %(before)s::text IS NULL OR latest.checkpoint_id < %(before)s
ORDER BY latest.checkpoint_id DESC
LIMIT %(limit)s
"""
# Threads whose latest checkpoint holds a hand-over, longest first.
HANDED_OVER = """
SELECT blob.thread_id, latest.checkpoint_id
FROM checkpoint_blobs AS blob
CROSS JOIN LATERAL (
    SELECT checkpoint_id, checkpoint FROM checkpoints
    WHERE checkpoints.thread_id = blob.thread_id AND checkpoints.checkpoint_ns = ''
    ORDER BY checkpoint_id DESC LIMIT 1
) AS latest
WHERE blob.channel = 'handoff' AND blob.checkpoint_ns = ''
  AND latest.checkpoint -> 'channel_versions' ->> 'handoff' = blob.version
ORDER BY latest.checkpoint_id
LIMIT %(limit)s
"""


class Conversation(TypedDict):
    """One line of the list."""

    thread_id: str
    checkpoint_id: str
    """The page after this line begins before it."""
    at: str
    """Of the latest step, ISO 8601."""
    user_id: str
    request: str
    """The customer's latest words, shortened."""
    answer: str
    intents: list[str]
    waits: int
    """Approvals that wait."""
    handoff: Handoff | None
    stopped_because: str | None
    fault: str | None


async def latest_conversations(services: Services, words: str, before: str | None) -> list[Conversation]:
    """A page of conversations, latest first; with `words` those in which they stand."""
    if not words:
        return await _read(services, LATEST, {"before": before, "limit": PAGE})
    like = "%" + words.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    return await _read(services, SEARCH, {"words": words, "like": like, "before": before, "limit": PAGE})


async def handed_over(services: Services) -> list[Conversation]:
    """Conversations that are with a person, longest first."""
    found = await _read(services, HANDED_OVER, {"limit": MOST_HANDED_OVER})
    return [conversation for conversation in found if conversation["handoff"]]


async def _read(
    services: Services, query: LiteralString, parameters: Mapping[str, object]
) -> list[Conversation]:
    rows: Sequence[Mapping[str, Any]] = await services.database.fetch(query, parameters)
    saver = make_checkpointer(services.database, services.settings)
    found = await latest_checkpoints(saver, [row["thread_id"] for row in rows])
    return [_line(checkpoint) for checkpoint in found]


def _line(found: CheckpointTuple) -> Conversation:
    state = values(found)
    turn = state.get("turn") or {}
    route = state.get("route")
    asked = waiting(found)
    return {
        "thread_id": found.config["configurable"]["thread_id"],
        "checkpoint_id": found.checkpoint["id"],
        "at": found.checkpoint["ts"],
        "user_id": turn.get("user_id", ""),
        "request": turn.get("request", "")[:LONGEST],
        "answer": (state.get("answer") or "")[:LONGEST],
        "intents": [intent["name"] for intent in route["intents"]] if route else [],
        "waits": len(asked["requests"]) if asked else 0,
        "handoff": state.get("handoff"),
        "stopped_because": state.get("stopped_because"),
        "fault": state.get("fault"),
    }
