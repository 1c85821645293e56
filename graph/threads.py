"""What can be said of a thread from its checkpoints alone: whose it is, and what it waits for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import structlog
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple

from memory.checkpoints import CheckpointSaver, make_checkpointer
from memory.errors import ConfigurationError
from nodes.run import Services
from tools.approval import ApprovalRequest

log = structlog.get_logger(__name__)

INTERRUPT = "__interrupt__"
MOST_WAITING = 200

# The latest checkpoint of a thread is the one that no other is newer than; ids are ordered by time. Whose thread it is,
# a run says: an update of the state is made in the name of whoever makes it.
WAITING = """
SELECT DISTINCT thread_id, checkpoint_id
FROM checkpoint_writes AS written
WHERE channel = '__interrupt__' AND checkpoint_ns = ''
  AND NOT EXISTS (
      SELECT FROM checkpoints AS newer
      WHERE newer.thread_id = written.thread_id AND newer.checkpoint_ns = ''
        AND newer.checkpoint_id > written.checkpoint_id
  )
  AND (%(user)s::text IS NULL OR %(user)s = (
      SELECT run.metadata ->> 'user_id' FROM checkpoints AS run
      WHERE run.thread_id = written.thread_id AND run.checkpoint_ns = ''
        AND run.metadata ->> 'source' IN ('input', 'loop')
      ORDER BY run.checkpoint_id DESC LIMIT 1
  ))
ORDER BY checkpoint_id
LIMIT %(most)s
"""


class Waiting(TypedDict):
    """An approval that a thread waits for."""

    thread_id: str
    user_id: str
    turn_id: str
    since: str
    """ISO 8601."""
    requests: list[ApprovalRequest]
    interrupt: Any
    """The payload in the human-in-the-loop form, as the server's clients know it."""


async def thread_owner(services: Services, thread_id: str) -> str | None:
    """The customer of a thread; None where it was never begun."""
    found = await latest_checkpoint(make_checkpointer(services.database, services.settings), thread_id)
    turn = values(found).get("turn") if found else None
    return turn["user_id"] if turn else None


async def waiting_threads(services: Services, *, user: str | None = None) -> list[Waiting]:
    """Threads that wait for an approval, longest first, at most 200; with `user` only this customer's."""
    saver = make_checkpointer(services.database, services.settings)
    rows = await services.database.fetch(WAITING, {"user": user, "most": MOST_WAITING})
    found = [waiting(one) for one in await latest_checkpoints(saver, [row["thread_id"] for row in rows])]
    return [one for one in found if one and (user is None or one["user_id"] == user)]


async def latest_checkpoint(saver: CheckpointSaver, thread_id: str) -> CheckpointTuple | None:
    """The thread's latest checkpoint; None where it was never begun."""
    config: RunnableConfig = {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}
    return await saver.aget_tuple(config)


async def latest_checkpoints(saver: CheckpointSaver, thread_ids: Sequence[str]) -> list[CheckpointTuple]:
    """The latest checkpoint of each thread; what was written with another key hides nobody else's."""
    found: list[CheckpointTuple] = []
    for thread_id in thread_ids:
        try:
            latest = await latest_checkpoint(saver, thread_id)
        except ConfigurationError as error:
            log.warning("a conversation does not open", thread_id=thread_id, error=str(error))
            continue
        if latest:
            found.append(latest)
    return found


def waiting(found: CheckpointTuple) -> Waiting | None:
    """The approval that the thread waits for at this checkpoint; None where it waits for none."""
    state = values(found)
    payloads = [value for _, channel, value in found.pending_writes or () if channel == INTERRUPT]
    if not payloads or "turn" not in state:
        return None
    interrupts = payloads[0]
    return {
        "thread_id": found.config["configurable"]["thread_id"],
        "user_id": state["turn"]["user_id"],
        "turn_id": state["turn"]["id"],
        "since": found.checkpoint["ts"],
        "requests": state.get("approvals", []),
        "interrupt": interrupts[0].value,
    }


def values(found: CheckpointTuple) -> Mapping[str, Any]:
    """The state at a checkpoint, without the messages: those are kept as what changed."""
    return found.checkpoint["channel_values"]
