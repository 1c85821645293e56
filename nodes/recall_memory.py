"""Recall what matters now: memories of this customer, facts of this session, earlier sessions (M1, M3)."""

from __future__ import annotations

import structlog

from memory.ageing import HalfLives
from memory.errors import StewardError
from memory.recall import IN_DOMAIN_FLOOR, Recalled, RecallRequest, TurnMemory, recall_for_turn
from nodes.run import Run
from nodes.state import AgentState, RecalledMemory

log = structlog.get_logger(__name__)

CANDIDATES = 12
"""More than is injected: the intent, which decides the domains and with them the floor, is found beside this."""


async def recall_memory(state: AgentState, run: Run) -> AgentState:
    """Memories above the relevance floor, best first; a failing recall costs the turn nothing but them."""
    turn = state["turn"]
    services = run.services
    request = RecallRequest(
        user_id=turn["user_id"],
        text=turn["request"],
        now=run.now(),
        k=CANDIDATES,
        floor=IN_DOMAIN_FLOOR,
        half_lives=HalfLives.of(run.settings),
    )
    try:
        found = await recall_for_turn(services.database, services.embedder, request, run.thread_id)
    except StewardError as error:
        log.warning("recall failed", error=str(error), thread_id=run.thread_id)
        return {"recalled": []}
    remembering = run.settings.steward_long_term_memory == "on"
    return {
        "recalled": _views(found) if remembering else [],
        "session": {
            "summary": found.summary,
            "folded_until": found.folded_until,
            "key_facts": dict(found.key_facts),
            "snapshots": list(found.snapshots),
            "customer": found.user_summary or "",
        },
    }


def _views(found: TurnMemory) -> list[RecalledMemory]:
    fitting = {memory.id for memory in found.memories}
    others = [memory for memory in found.constraints if memory.id not in fitting]
    return [_view(memory) for memory in (*found.memories, *others)]


def _view(memory: Recalled) -> RecalledMemory:
    return {
        "key": memory.key,
        "content": memory.content,
        "score": round(memory.score, 4),
        "fit": round(memory.fit, 4),
        "domains": list(memory.domains),
        "grounds": memory.grounds,
        "constrains": memory.constrains,
    }
