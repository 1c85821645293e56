"""What a draft under review may draw on, gathered from the state of the turn."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from nodes.business import Intent
from nodes.checks import Sources, Wish
from nodes.run import Run
from nodes.state import AgentState

KNOWLEDGE = "knowledge_search"
"""The tool whose results are documents: they say what holds in general, not how an order stands."""
EARLIER_RESULTS = 40
"""Of earlier turns, that a draft may still draw on; what is older stands in the summary."""


@dataclass(frozen=True)
class ToolResult:
    tool: str
    envelope: str
    """As JSON, the way the model saw it."""
    fresh: bool
    """Of this turn."""

    @property
    def ok(self) -> bool:
        return '"status": "ok"' in self.envelope[:40] or _parsed(self.envelope).get("status") == "ok"


def tool_results(state: AgentState) -> list[ToolResult]:
    """All results of the thread, oldest first."""
    messages = state["messages"]
    names = {call["id"]: call["name"] for m in messages if isinstance(m, AIMessage) for call in m.tool_calls}
    since = next((i for i, m in enumerate(messages) if m.id == state["turn"]["message_id"]), 0)
    return [
        ToolResult(m.name or names.get(m.tool_call_id, ""), m.text, fresh=position > since)
        for position, m in enumerate(messages)
        if isinstance(m, ToolMessage)
    ]


def review_sources(state: AgentState, run: Run) -> Sources:
    """The sources for the checks, with what the intents on the list ask of an answer."""
    results = tool_results(state)
    intents = listed_intents(state, run)
    live = [result for result in results if result.tool != KNOWLEDGE]
    return Sources(
        now=run.now(),
        timezone=state["turn"]["timezone"],
        results=[result.envelope for result in live if result.fresh],
        earlier_results=[result.envelope for result in live if not result.fresh][-EARLIER_RESULTS:],
        user_texts=user_texts(state["messages"]),
        memories=memories(state),
        documents=[text for r in results if r.tool == KNOWLEDGE for text in _strings(_parsed(r.envelope))],
        instructions=[run.business.instructions, *(intent.instructions for intent in intents)],
        states=run.business.states,
        required=dict(_required(intents, live)),
        wishes={intent.name: _wish(intent, intents, results) for intent in intents},
    )


def listed_intents(state: AgentState, run: Run) -> list[Intent]:
    route = state.get("route")
    return [run.business.intent(intent["name"]) for intent in route["intents"]] if route else []


def user_texts(messages: Iterable[AnyMessage]) -> list[str]:
    return [message.text for message in messages if isinstance(message, HumanMessage)]


def memories(state: AgentState) -> list[str]:
    """What is remembered: recalled facts, this session's summary and key facts, earlier sessions."""
    found = [memory["content"] for memory in state.get("recalled", [])]
    if session := state.get("session"):
        found.extend(f"{name}: {value}" for name, value in session["key_facts"].items())
        found.extend(text for text in [session["summary"], *session["snapshots"]] if text)
    return found


def _required(intents: Sequence[Intent], results: Sequence[ToolResult]) -> Iterable[tuple[str, str]]:
    """Values by field, where this turn's results of the tool that is named hold exactly one."""
    for intent in intents:
        for name in intent.required:
            tool, _, field = name.partition(".")
            data = [_parsed(r.envelope).get("data") for r in results if r.tool == tool and r.fresh and r.ok]
            values = {str(value) for value in _values(data, field) if value not in (None, "")}
            if len(values) == 1:
                yield field, values.pop()


def _wish(intent: Intent, intents: Sequence[Intent], results: Sequence[ToolResult]) -> Wish:
    others = {tool for other in intents if other is not intent for tool in other.tools}
    fetched = [r for r in results if r.fresh and r.ok and r.tool in intent.tools]
    return Wish(
        words=intent.answer_words,
        own=[result.envelope for result in fetched if result.tool not in others],
        fetched=any(result.tool in others for result in fetched),
    )


def _parsed(envelope: str) -> dict[str, Any]:
    try:
        value = json.loads(envelope)
    except ValueError:
        return {"data": envelope}
    return value if isinstance(value, dict) else {"data": value}


def _values(value: Any, field: str) -> Iterable[Any]:
    if isinstance(value, dict):
        if field in value and not isinstance(value[field], dict | list):
            yield value[field]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _values(item, field)


def _strings(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)
