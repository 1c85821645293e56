"""Threads that the LangGraph dev server does not know: begun elsewhere, or forgotten when it was killed.

The dev server keeps its list of threads in memory and writes it to a file now and then. What was said stands in
Postgres; at the start the latest conversations are put back on the list.
"""

from __future__ import annotations

from uuid import UUID

import structlog
from langgraph_sdk import get_client

from graph.threads import thread_owner
from memory.errors import ConfigurationError
from nodes.run import Services

log = structlog.get_logger(__name__)

MOST = 200
"""Threads that are put back; older ones come back when a client creates them by their id."""

LATEST = """
SELECT thread_id FROM checkpoints WHERE checkpoint_ns = ''
GROUP BY thread_id ORDER BY max(checkpoint_id) DESC LIMIT %s
"""


async def list_known_threads(services: Services, graph_id: str) -> int:
    """Put the latest threads on the server's list, each with its owner; how many those are. Threads that the server
    knows stay as they are, and so does what has no UUID for a name, which the server could not serve."""
    client = get_client()
    rows = await services.database.fetch(LATEST, (MOST,))
    thread_ids = [row["thread_id"] for row in rows if _is_uuid(row["thread_id"])]
    unread = 0
    for thread_id in thread_ids:
        try:
            owner = await thread_owner(services, thread_id)
        except ConfigurationError:
            unread += 1
            continue
        metadata = {"graph_id": graph_id} | ({"owner": owner} if owner else {})
        await client.threads.create(thread_id=thread_id, metadata=metadata, if_exists="do_nothing")
    if unread:
        log.warning("conversations do not open with STEWARD_ENCRYPTION_KEY", threads=unread)
    return len(thread_ids) - unread


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
