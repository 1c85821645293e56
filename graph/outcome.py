"""What a turn came to, as the command line prints it and as scripts read it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from langgraph.types import StateSnapshot

from nodes.booking import CLASSES
from nodes.settings import ROLES
from nodes.state import AgentState


class TurnOutcome(TypedDict):
    """The object of `chat --json`; its keys are an interface that scripts hold on to."""

    thread_id: str
    answer: str
    clarification: dict[str, Any] | None
    intents: list[dict[str, Any]]
    tool_calls: list[dict[str, Any]]
    memories: list[dict[str, Any]]
    stopped_because: str | None
    interrupt: dict[str, Any] | None
    usage: dict[str, dict[str, int]]


def turn_outcome(thread_id: str, snapshot: StateSnapshot) -> TurnOutcome:
    """The outcome of the turn that a snapshot of the thread's state holds."""
    state: AgentState = snapshot.values  # type: ignore[assignment]
    return {
        "thread_id": thread_id,
        "answer": state.get("answer") or "",
        "clarification": _clarification(state),
        "intents": _intents(state),
        "tool_calls": [
            _only(call, "id", "name", "args", "status", "error_kind") for call in state.get("tool_calls", [])
        ],
        "memories": [_only(memory, "key", "content", "score") for memory in state.get("recalled", [])],
        "stopped_because": state.get("stopped_because"),
        "interrupt": pending_request(snapshot),
        "usage": _usage(state),
    }


def pending_request(snapshot: StateSnapshot) -> dict[str, Any] | None:
    """The approval request that the thread waits for, in the human-in-the-loop form; None where it waits for none."""
    payloads: Sequence[Any] = [interrupt.value for interrupt in snapshot.interrupts]
    return payloads[0] if payloads else None


def _clarification(state: AgentState) -> dict[str, Any] | None:
    """The question of this turn; one that an earlier turn put is not repeated."""
    route, asked = state.get("route"), state.get("clarification")
    return _only(asked, "question", "intents") if asked and route and route["ask"] else None


def _intents(state: AgentState) -> list[dict[str, Any]]:
    route = state.get("route")
    return [
        # The answer to a question back is the follow-up of the request before it.
        {**intent, "source": "follow_up" if intent["source"] == "clarified" else intent["source"]}
        for intent in (route["intents"] if route else [])
    ]


def _usage(state: AgentState) -> dict[str, dict[str, int]]:
    usage = state.get("usage") or {"by_class": {}, "by_role": {}}
    return {
        "by_class": {name: usage["by_class"].get(name, 0) for name in CLASSES},
        "by_role": {role: usage["by_role"].get(role, 0) for role in ROLES},
    }


def _only(value: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value.get(name) for name in names}
