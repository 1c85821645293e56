"""Every decision on the flow: small pure functions from the state to the name of a path."""

from __future__ import annotations

from typing import Literal

from langchain_core.messages import AIMessage

from nodes.context_groups import open_calls
from nodes.state import AgentState


def at_the_start(state: AgentState) -> list[Literal["what is asked", "what is known"]]:
    """Routing and recall run side by side; in a thread with staff the message is only taken in."""
    return ["what is asked"] if state.get("handoff") else ["what is asked", "what is known"]


def after_route(state: AgentState) -> Literal["routed", "with staff", "waiting for staff"]:
    """A thread with staff is silent; an approval that staff have not settled yet stays open there too."""
    if state.get("handoff"):
        return "waiting for staff" if state.get("approvals") else "with staff"
    return "routed"


def after_assembly(state: AgentState) -> Literal["ready", "unsure", "answered"]:
    """Too unsure of the route: ask, instead of calling the model. A message that could not be served has its answer."""
    if state.get("answer") is not None:
        return "answered"
    route = state["route"]
    return "unsure" if route and route["ask"] else "ready"


def after_model(state: AgentState) -> Literal["tools", "review", "answer", "too long"]:
    """What the model's message asks for; none at all means that the provider found the context too long."""
    last = state["messages"][-1]
    if isinstance(last, AIMessage) and open_calls([last]):
        return "tools"
    if state.get("draft") is not None:
        return "review"
    if state.get("answer") is not None:
        return "answer"
    return "too long"


def after_tools(state: AgentState) -> Literal["retry", "approval", "results", "with staff"]:
    """Failed in passing, waiting for a person, or done; what was decided in a thread with staff is theirs to tell."""
    if state.get("fault"):
        return "results"
    if state.get("approvals") and _waits(state):
        return "approval"
    if state.get("retry"):
        return "retry"
    return "with staff" if state.get("handoff") and state.get("answer") is not None else "results"


def _waits(state: AgentState) -> bool:
    """Whether an open call of this turn is among those that wait for approval."""
    waiting = {request["call_id"] for request in state["approvals"]}
    return any(record["id"] in waiting and record["status"] == "pending" for record in state["tool_calls"])


def after_approval(state: AgentState) -> Literal["settled", "undecided"]:
    """Nothing runs before every request is settled."""
    return "undecided" if state["approvals"] else "settled"


def after_review(state: AgentState) -> Literal["final", "another round"]:
    """One round is one reviewer call."""
    review = state["review"]
    return "final" if review is None or review["done"] else "another round"


def after_memory(state: AgentState) -> Literal["done", "waiting for staff"]:
    """An approval that staff have not settled yet stays open behind the answer."""
    return "waiting for staff" if state.get("approvals") else "done"
