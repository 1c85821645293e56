"""The turn as the tool engine needs to see it."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AnyMessage, HumanMessage

from nodes.run import Run
from nodes.state import AgentState, Turn
from tools.calls import CallScope, Grounds
from tools.spec import Arguments


def call_scope(turn: Turn, run: Run, state: AgentState | None = None) -> CallScope:
    """Who calls, in which turn, and what may ground an argument; without a state: for recovery only."""
    route = state.get("route") if state else None
    retry = state.get("retry") if state else None
    return CallScope(
        user_id=turn["user_id"],
        thread_id=run.thread_id,
        turn_id=turn["id"],
        locale=turn["locale"],
        timezone=turn["timezone"],
        now=run.now(),
        intents=tuple(intent["name"] for intent in route["intents"]) if route else (),
        offered=tuple(route["tools"]) if route else (),
        grounds=_grounds(state) if state else Grounds(),
        attempts=retry["attempts"] if retry else {},
        made=_made(state) if state else (),
        opened_in=turn.get("thread_id"),
    )


def _made(state: AgentState) -> list[tuple[str, Arguments]]:
    """The turn's calls that have a result, so that one which is made again and again is noticed."""
    calls = state.get("tool_calls", [])
    return [(call["name"], call["args"]) for call in calls if call["status"] != "pending"]


def _grounds(state: AgentState) -> Grounds:
    return Grounds(
        user_texts=tuple(_user_texts(state.get("messages", []))),
        memories=tuple(memory.get("grounds", "") for memory in state.get("recalled", [])),
    )


def _user_texts(messages: Sequence[AnyMessage]) -> list[str]:
    return [message.text for message in messages if isinstance(message, HumanMessage)]
