"""One conversation as the page shows it: what was said and called, turn by turn, and where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig

from graph.threads import latest_checkpoint, waiting
from memory.checkpoints import make_checkpointer
from memory.clean import clean_json
from nodes.run import Services
from nodes.usage_report import report

MOST_MESSAGES = 400
"""The latest; of a longer conversation the rest is left out."""
LONGEST = 8000
"""Characters shown of a message."""
FEEDBACK = "SELECT turn_id, rating, reason FROM turn_feedback WHERE thread_id = %s"


async def read_conversation(services: Services, graph: Any, thread_id: str) -> dict[str, Any] | None:
    """JSON-native; None for a thread that was never begun. `graph` is the compiled graph."""
    saver = make_checkpointer(services.database, services.settings)
    latest = await latest_checkpoint(saver, thread_id)
    if latest is None:
        return None
    config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
    state = (await graph.copy(update={"checkpointer": saver}).aget_state(config)).values
    turn = state.get("turn") or {}
    messages = state.get("messages", [])
    spent = {row["key"]: row for row in await report(services.database, thread=thread_id)}
    rated = {row["turn_id"]: row for row in await services.database.fetch(FEEDBACK, (thread_id,))}
    shown = {
        "thread_id": thread_id,
        "user_id": turn.get("user_id", ""),
        "at": latest.checkpoint["ts"],
        "turn_id": turn.get("id"),
        "messages": said(messages)[-MOST_MESSAGES:],
        "shortened": len(messages) > MOST_MESSAGES,
        "turns": {id: _turn(spent.get(id), rated.get(id)) for id in {*spent, *rated} if id},
        "waiting": waiting(latest),
        "handoff": state.get("handoff"),
        "summary": (state.get("session") or {}).get("summary", ""),
    }
    return cast(dict[str, Any], clean_json(shown).value)


def _turn(spent: Any, rated: Any) -> dict[str, Any]:
    return {
        "at": spent["since"] if spent else None,
        "tokens": spent["prompt_tokens"] + spent["completion_tokens"] if spent else 0,
        "cost": spent["cost"] if spent else 0.0,
        "rating": rated["rating"] if rated else None,
        "reason": rated["reason"] if rated else "",
    }


def said(messages: Sequence[AnyMessage]) -> list[dict[str, Any]]:
    """The messages as lines, each with its turn. A turn begins with the customer's message, or with a colleague's."""
    lines: list[dict[str, Any]] = []
    turn_id = ""
    for message in messages:
        by = _speaker(message)
        if by in ("customer", "staff"):
            turn_id = f"turn-{message.id}"
        line: dict[str, Any] = {
            "id": message.id,
            "turn_id": turn_id,
            "by": by,
            "text": str(message.text)[:LONGEST],
        }
        if isinstance(message, AIMessage) and message.tool_calls:
            line["calls"] = [
                {"id": call["id"], "name": call["name"], "args": call["args"]} for call in message.tool_calls
            ]
        if isinstance(message, ToolMessage):
            line["call_id"] = message.tool_call_id
        lines.append(line)
    return lines


def _speaker(message: AnyMessage) -> str:
    if isinstance(message, HumanMessage):
        return "customer"
    if isinstance(message, ToolMessage):
        return "tool"
    return "staff" if message.name == "staff" else "agent"
