"""Ask a person before a call runs: one interrupt for all calls that wait, answered call by call (T9)."""

from __future__ import annotations

import time

from langchain_core.messages import AnyMessage, ToolMessage
from langgraph.types import interrupt

from nodes.execute_tools import settled_copy
from nodes.run import Run
from nodes.state import AgentState
from tools.approval import ApprovalRequest, payload, read_decisions
from tools.calls import Decision


async def request_approval(state: AgentState, run: Run) -> AgentState:
    """Interrupt with the waiting requests; on resume note each decision and give the turn its time back."""
    waiting = state["approvals"]
    answer = interrupt(payload(waiting))
    decisions = read_decisions(answer, waiting, by=run.context.role)
    left = [request for request in waiting if request["call_id"] not in decisions]
    settled = [request for request in waiting if request["call_id"] in decisions]
    messages, decisions = _reopened(state, settled, decisions)
    return {
        "messages": messages,
        "approvals": left,
        "decisions": {**state.get("decisions", {}), **decisions},
        "answer": None,
        "draft": None,
        "review": None,
        "turn": {**state["turn"], "deadline": time.time() + run.settings.steward_turn_seconds},
    }


def _reopened(
    state: AgentState, settled: list[ApprovalRequest], decisions: dict[str, Decision]
) -> tuple[list[AnyMessage], dict[str, Decision]]:
    """Calls whose turn ended while staff were deciding are made again, with the decision under the new id."""
    answered = {m.tool_call_id for m in state["messages"] if isinstance(m, ToolMessage)}
    messages: list[AnyMessage] = []
    moved = dict(decisions)
    for request in settled:
        if request["call_id"] in answered:
            copy = settled_copy(request)
            messages.append(copy)
            moved[copy.tool_calls[0]["id"] or ""] = moved.pop(request["call_id"])
    return messages, moved
