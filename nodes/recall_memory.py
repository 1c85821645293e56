"""Recall what matters now: memories of this customer, facts of this session, earlier sessions (M1, M3)."""

from __future__ import annotations

import structlog

from memory.errors import StewardError
from memory.recall import RecallRequest, recall_for_turn
from nodes.run import Run
from nodes.state import AgentState

log = structlog.get_logger(__name__)

CANDIDATES = 12
"""More than is injected: the intent, which decides the domains, is found beside this."""


async def recall_memory(state: AgentState, run: Run) -> AgentState:
    """Memories above the relevance floor, best first; a failing recall costs the turn nothing but them."""
    turn = state["turn"]
    services = run.services
    request = RecallRequest(user_id=turn["user_id"], text=turn["request"], now=run.now(), k=CANDIDATES)
    try:
        found = await recall_for_turn(services.database, services.embedder, request, run.thread_id)
    except StewardError as error:
        log.warning("recall failed", error=str(error), thread_id=run.thread_id)
        return {"recalled": []}
    return {
        "recalled": [
            {"key": m.key, "content": m.content, "score": round(m.score, 4), "domains": list(m.domains)}
            for m in found.memories
        ]
        if run.settings.steward_long_term_memory == "on"
        else [],
        "session": {
            "summary": found.summary,
            "folded_until": found.folded_until,
            "key_facts": dict(found.key_facts),
            "snapshots": list(found.snapshots),
        },
    }
