"""Ask a person before a call runs: one interrupt for all calls that wait, answered call by call (T9)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.types import interrupt

from memory.errors import InvalidInput
from nodes.business import Business
from nodes.execute_tools import settled_copy
from nodes.routing import make_route
from nodes.run import Run
from nodes.state import AgentState, Route, RoutedIntent, Turn
from tools.approval import ApprovalRequest, payload, read_decisions
from tools.calls import Decision


async def request_approval(state: AgentState, run: Run) -> AgentState:
    """Interrupt with the waiting requests; on resume note each decision and give the turn its time back."""
    waiting = state["approvals"]
    decisions = _asked(waiting, run)
    if not decisions:
        return {}
    settled = [request for request in waiting if request["call_id"] in decisions]
    reopened, decisions = _reopened(state, settled, decisions)
    now = time.time()
    turn: Turn = {**state["turn"], "deadline": now + run.settings.steward_turn_seconds}
    update: AgentState = {}
    if reopened:
        # What comes now is answered by itself, whatever limit has ended the turn that stands here.
        turn = {**turn, "model_calls": 0, "tool_calls": 0, "tokens": 0}
        update = {"stopped_because": None, "fault": None, "context": None, "retry": None}
    return {
        **update,
        "messages": list(reopened),
        "approvals": [request for request in waiting if request["call_id"] not in decisions],
        "decisions": {**state.get("decisions", {}), **decisions},
        "route": _offering(state["route"], reopened, run.business),
        # In a thread with staff the agent stays silent: whoever has decided tells the customer.
        "answer": "" if state.get("handoff") else None,
        "draft": None,
        "review": None,
        "turn": turn,
    }


def _asked(waiting: Sequence[ApprovalRequest], run: Run) -> dict[str, Decision]:
    """What the person decides. An answer that cannot be read is asked for again, with what was wrong: raising would
    keep it on the thread, where it would be read again and again."""
    asked = payload(waiting)
    while True:
        answer = interrupt(asked)
        try:
            return read_decisions(answer, waiting, by=run.context.role)
        except InvalidInput as error:
            asked = {**payload(waiting), "error": str(error)}


def _reopened(
    state: AgentState, settled: Sequence[ApprovalRequest], decisions: Mapping[str, Decision]
) -> tuple[list[AIMessage], dict[str, Decision]]:
    """Calls whose turn ended while staff were deciding are made again, with the decision under the new id."""
    answered = {m.tool_call_id for m in state["messages"] if isinstance(m, ToolMessage)}
    copies: list[AIMessage] = []
    under = dict(decisions)
    for request in settled:
        if request["call_id"] in answered:
            copy = settled_copy(request)
            copies.append(copy)
            under[str(copy.tool_calls[0]["id"])] = decisions[request["call_id"]]
    return copies, under


def _offering(route: Route | None, reopened: Sequence[AIMessage], business: Business) -> Route | None:
    """The route with the tools of the calls that are made again, whatever the conversation has moved on to.

    Where it has moved on to a message that could not be served, or to a question back, the calls lead by themselves.
    """
    if not reopened:
        return route
    names = [call["name"] for message in reopened for call in message.tool_calls]
    if route is None or route["ask"]:
        return make_route([_intent_of(names, business)], business, names, len(names), "staff have decided")
    return {**route, "tools": list(dict.fromkeys([*route["tools"], *names]))}


def _intent_of(tools: Sequence[str], business: Business) -> RoutedIntent:
    """The first kind of request that uses one of the tools."""
    using = (intent.name for intent in business.intents if set(tools) & set(intent.tools))
    return {"name": next(using, business.fallback), "confidence": 1.0, "source": "follow_up"}
