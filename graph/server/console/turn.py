"""One turn as the page shows it: its way through the graph, and what was routed, recalled, called, reviewed, spent."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import StateSnapshot

from graph.server.console.path import Edge, point, way
from graph.threads import values
from memory.checkpoints import CheckpointSaver, make_checkpointer
from memory.clean import clean_json
from nodes.run import Services

PAGE = 50
LONGEST_RESULT = 20_000
"""Characters shown of a tool's result."""
STATE = (
    "turn",
    "route",
    "recalled",
    "session",
    "answer",
    "stopped_because",
    "fault",
    "usage",
    "handoff",
)
"""What of the state at the turn's end is shown as it is."""
CALLS = """
SELECT call_id, tool, arguments, status, error_kind, result, attempt, started_at,
       extract(epoch FROM finished_at - started_at)::float8 AS seconds
FROM tool_call WHERE thread_id = %(thread)s AND turn_id = %(turn)s ORDER BY id
"""
MODEL_CALLS = """
SELECT node, role, model, prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, estimated,
       cost::float8 AS cost, created_at AS at
FROM token_usage WHERE thread_id = %(thread)s AND turn_id = %(turn)s ORDER BY created_at, id
"""
FEEDBACK = """
SELECT rating, reason, by_role, updated_at AS at FROM turn_feedback
WHERE thread_id = %(thread)s AND turn_id = %(turn)s
"""


async def read_turn(services: Services, graph: Any, thread_id: str, turn_id: str) -> dict[str, Any] | None:
    """JSON-native; None where the thread has no such turn. `graph` is the compiled graph."""
    saver = make_checkpointer(services.database, services.settings)
    chain = await _chain(saver, graph.copy(update={"checkpointer": saver}), thread_id, turn_id)
    if not chain:
        return None
    own = [snapshot for snapshot in chain if _turn_of(snapshot.values) == turn_id]
    state = own[-1].values
    named = {"thread": thread_id, "turn": turn_id}
    database = services.database
    drawn: set[Edge] = {(edge.source, edge.target) for edge in graph.get_graph().edges}
    shown = {
        **{name: state.get(name) for name in STATE},
        "context": _context(state.get("context")),
        "way": way([point(snapshot) for snapshot in chain], drawn),
        "tool_calls": _calls(state.get("tool_calls") or [], await database.fetch(CALLS, named)),
        "reviews": _reviews(own),
        "model_calls": await database.fetch(MODEL_CALLS, named),
        "feedback": await database.fetch_one(FEEDBACK, named),
    }
    return cast(dict[str, Any], clean_json(shown).value)


async def _chain(
    saver: CheckpointSaver, served: Any, thread_id: str, turn_id: str
) -> Sequence[StateSnapshot]:
    """The turn's checkpoints in the order of time, led by the one from which it began; other branches left out."""
    span = await _span(saver, thread_id, turn_id)
    if span is None:
        return []
    later, length = span
    found: list[StateSnapshot] = []
    config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
    history: AsyncIterator[StateSnapshot] = served.aget_state_history(config, before=later, limit=length + 1)
    wanted: str | None = None
    async for snapshot in history:
        if wanted is not None and _id(snapshot.config) != wanted:
            continue
        if not found and _turn_of(snapshot.values) != turn_id:
            continue
        found.insert(0, snapshot)
        if _turn_of(snapshot.values) != turn_id:
            break
        wanted = _id(snapshot.parent_config)
    return _without_the_next(found)


def _without_the_next(chain: Sequence[StateSnapshot]) -> Sequence[StateSnapshot]:
    """A later message stands beside the turn's state until the turn has been opened."""
    for place, snapshot in enumerate(chain):
        if place and (snapshot.metadata or {}).get("source") == "input":
            return chain[:place]
    return chain


async def _span(
    saver: CheckpointSaver, thread_id: str, turn_id: str
) -> tuple[RunnableConfig | None, int] | None:
    """The checkpoint that follows the turn's last, and how many there are from its last to its first."""
    config: RunnableConfig = {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}
    later: RunnableConfig | None = None
    follows: RunnableConfig | None = None
    length = 0
    while True:
        page = [found async for found in saver.alist(config, before=later, limit=PAGE)]
        for found in page:
            if _turn_of(values(found)) == turn_id:
                follows = follows if length else later
                length += 1
            elif length:
                return follows, length
            later = found.config
        if len(page) < PAGE:
            return (follows, length) if length else None


def _turn_of(state: Mapping[str, Any]) -> str | None:
    turn = state.get("turn")
    return turn["id"] if turn else None


def _id(config: RunnableConfig | None) -> str:
    return str(config["configurable"]["checkpoint_id"]) if config else ""


def _context(plan: Mapping[str, Any] | None) -> dict[str, Any] | None:
    names = ("tokens", "cut", "budget", "tight", "tools", "earlier")
    return {name: plan.get(name) for name in names} if plan else None


def _calls(noted: Sequence[Mapping[str, Any]], recorded: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The calls that the state names, with what the ledger knows of each."""
    rows = {row["call_id"]: row for row in recorded}
    return [{**call, **_recorded(rows.get(call["id"]))} for call in noted]


def _recorded(row: Mapping[str, Any] | None) -> dict[str, Any]:
    if row is None:
        return {"result": None, "seconds": None, "at": None}
    text = json.dumps(row["result"], ensure_ascii=False, indent=2) if row["result"] is not None else ""
    more = len(text) > LONGEST_RESULT
    return {
        "result": text[:LONGEST_RESULT] + ("\n…" if more else ""),
        "seconds": row["seconds"],
        "at": row["started_at"],
    }


def _reviews(chain: Sequence[StateSnapshot]) -> list[dict[str, Any]]:
    """Every round of the review, not only the last, which is all that the state keeps."""
    rounds: dict[int, dict[str, Any]] = {}
    for snapshot in chain:
        if review := snapshot.values.get("review"):
            rounds[review["rounds"]] = dict(review)
    return [rounds[number] for number in sorted(rounds)]
