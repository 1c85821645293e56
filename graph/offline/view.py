"""The chat role's context, read back: what the customer says, what is known, what the tools answered."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

_BLOCK = re.compile(r"<(?P<name>[a-z_]+)>\n?(?P<body>.*?)\n?</(?P=name)>", re.DOTALL)

_OF_ITS_TURN = ("Now: ", "The current task is: ")
"""Lines of a background that say nothing of later turns."""


@dataclass(frozen=True)
class ToolResult:
    """One call with the envelope of its result."""

    name: str
    args: dict[str, Any]
    envelope: dict[str, Any]

    @property
    def ok(self) -> bool:
        return self.envelope.get("status") == "ok"

    @property
    def data(self) -> dict[str, Any]:
        """The result's data; empty for an error or where it is no object."""
        data = self.envelope.get("data")
        return data if self.ok and isinstance(data, dict) else {}


@dataclass(frozen=True)
class Said:
    """One thing that was said in the conversation, oldest first."""

    by: Literal["customer", "agent"]
    text: str


@dataclass(frozen=True)
class ChatView:
    """What the demo model reads out of its messages."""

    words: str
    """The customer's latest message."""
    language: Literal["zh", "en"]
    background: str = ""
    """Route and recalled memories of this turn, and the summary of the session: data, never orders."""
    history: Sequence[Said] = ()
    """What was said before the latest message."""
    past: Sequence[ToolResult] = ()
    """Results of earlier turns."""
    results: Sequence[ToolResult] = ()
    """Results of this turn."""
    tools: frozenset[str] = field(default_factory=frozenset)
    """Names of the tools that may be called now."""
    schemas: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """JSON Schema of their arguments, by name, in the order in which they are offered."""
    stopped: bool = False
    """The turn has reached a limit; this is the last word."""

    def customer_texts(self) -> list[str]:
        """What the customer said before, oldest first."""
        return [said.text for said in self.history if said.by == "customer"]

    def last_answer(self) -> str:
        """The agent's last answer before this turn."""
        return next((said.text for said in reversed(self.history) if said.by == "agent"), "")

    def found(self, tool: str, args: Mapping[str, Any], same: Collection[str]) -> ToolResult | None:
        """This turn's result of such a call: equal in the arguments named by `same`, whatever became of the others
        (a person may have edited them on approval)."""
        for result in reversed(self.results):
            if result.name == tool and all(result.args.get(name) == args.get(name) for name in same):
                return result
        return None


def read_messages(messages: Sequence[BaseMessage], schemas: Mapping[str, Mapping[str, Any]]) -> ChatView:
    """The view of a chat role's messages; `schemas` are the arguments of the tools bound to the call, by name."""
    last = _latest_customer_message(messages)
    words, background = _customer_words(messages[last].text) if last is not None else ("", "")
    before = messages[:last] if last is not None else []
    after = messages[last + 1 :] if last is not None else []
    history = [said for message in before for said in _said(message)]
    summary = "\n".join(
        line
        for message in before
        if isinstance(message, HumanMessage)
        for match in _BLOCK.finditer(message.text)
        if match["name"] != "customer_message"
        for line in match["body"].splitlines()
        if not line.startswith(_OF_ITS_TURN)
    )
    return ChatView(
        words=words,
        language=language_of(words, history),
        background=f"{summary}\n{background}".strip(),
        history=history,
        past=_results(before),
        results=_results(after),
        tools=frozenset(schemas),
        schemas=schemas,
        stopped=any(isinstance(message, HumanMessage) for message in after),
    )


def blocks(text: str) -> dict[str, str]:
    """The marked blocks of a prompt by name.

    >>> blocks("<message>\\nhello\\n</message>")
    {'message': 'hello'}
    """
    return {match["name"]: match["body"].strip() for match in _BLOCK.finditer(text)}


def language_of(words: str, history: Sequence[Said] = ()) -> Literal["zh", "en"]:
    """The language of a message; one without letters (a number) is in the language before it."""
    for text in (words, *(said.text for said in reversed(history))):
        if any("\u4e00" <= char <= "\u9fff" for char in text):
            return "zh"
        if re.search(r"[A-Za-z]{3,}", re.sub(r"[A-Za-z]+-?\d[\d-]*|\S+@\S+", " ", text)):
            return "en"
    return "en"


def _latest_customer_message(messages: Sequence[BaseMessage]) -> int | None:
    """Index of the message being answered: the last of the customer's, leaving a closing notice aside."""
    humans = [i for i, message in enumerate(messages) if isinstance(message, HumanMessage)]
    spoken = [i for i in humans if _customer_words(messages[i].text)[0]]
    candidates = spoken or humans
    return candidates[-1] if candidates else None


def _customer_words(text: str) -> tuple[str, str]:
    """The customer's own words, and the blocks of data that stand before them."""
    found = blocks(text)
    if "customer_message" in found:
        rest = "\n".join(body for name, body in found.items() if name != "customer_message")
        return found["customer_message"], rest
    return _BLOCK.sub("", text).strip(), "\n".join(found.values())


def _said(message: BaseMessage) -> list[Said]:
    if isinstance(message, HumanMessage):
        words, _ = _customer_words(message.text)
        return [Said("customer", words)] if words else []
    if isinstance(message, AIMessage) and message.text and not message.tool_calls:
        return [Said("agent", message.text)]
    return []


def _results(messages: Sequence[BaseMessage]) -> list[ToolResult]:
    calls = {
        call["id"]: call
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    }
    return [
        ToolResult(call["name"], call["args"], _envelope(message.text))
        for message in messages
        if isinstance(message, ToolMessage) and (call := calls.get(message.tool_call_id))
    ]


def _envelope(text: str) -> dict[str, Any]:
    try:
        envelope = json.loads(text)
    except ValueError:
        envelope = None
    if isinstance(envelope, dict) and "status" in envelope:
        return envelope
    return {"status": "ok", "data": {"text": text}}
