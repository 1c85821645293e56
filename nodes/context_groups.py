"""Messages in groups that the protocol keeps together: a turn, and in it each call with its results.

Whatever the order and the gaps of the stored conversation (an interrupted turn, an approval settled later, a
mended call), what leaves here is valid: every call is followed by exactly one result, no result stands alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

LOST_RESULT = json.dumps(
    {
        "status": "error",
        "error_kind": "cancelled",
        "error_desc": "This call was interrupted before a result was recorded; it may not have run.",
        "retryable": False,
    }
)


BLOCK = "background"
"""Key of the customer's message under which the block that was sent before it is kept."""


@dataclass(frozen=True)
class TurnGroup:
    """One customer message with all that answered it."""

    messages: tuple[AnyMessage, ...]

    @property
    def first_id(self) -> str | None:
        return self.messages[0].id

    @property
    def block(self) -> str:
        """The background that was sent with this turn; empty where there was none."""
        return block_of(self.messages[0]) if self.messages else ""

    def has(self, id: str | None) -> bool:
        return any(message.id == id for message in self.messages)


def block_of(message: AnyMessage) -> str:
    """The block of data that is sent before a customer's message."""
    if message.type != "human":
        return ""
    block = message.additional_kwargs.get(BLOCK)
    return block if isinstance(block, str) else ""


def with_block(message: HumanMessage, block: str) -> HumanMessage:
    """The message with the block that is sent before it from now on."""
    return message.model_copy(update={"additional_kwargs": {**message.additional_kwargs, BLOCK: block}})


def since(groups: Sequence[TurnGroup], id: str | None) -> list[TurnGroup]:
    """The turns from the one that holds the message on; all of them where none does."""
    return list(groups[max(number_until(groups, id) - 1, 0) :])


def number_until(groups: Sequence[TurnGroup], id: str | None) -> int:
    """How many turns there are up to the one that holds the message; 0 where none does."""
    if id is None:
        return 0
    return next((number for number, group in enumerate(groups, 1) if group.has(id)), 0)


def call_ids(message: AIMessage) -> list[str]:
    """Ids of the calls in a message, unreadable ones too, in the order of the message."""
    if not message.tool_calls and not message.invalid_tool_calls:
        return []
    calls = [*message.tool_calls, *message.invalid_tool_calls]
    return [call["id"] for call in calls if call["id"]]


def open_calls(messages: Iterable[AnyMessage]) -> list[AIMessage]:
    """Messages that hold a call without a result."""
    answered = {message.tool_call_id for message in messages if message.type == "tool"}
    return [
        message
        for message in messages
        if message.type == "ai" and any(id not in answered for id in call_ids(message))
    ]


def turn_groups(messages: Sequence[AnyMessage]) -> list[TurnGroup]:
    """The conversation as turns, oldest first, each valid on its own."""
    results: dict[str, ToolMessage] = {}
    for message in messages:
        if message.type == "tool":
            results.setdefault(message.tool_call_id, message)
    groups: list[list[AnyMessage]] = []
    for message in messages:
        if message.type == "human" or not groups:
            groups.append([])
        if message.type == "human":
            groups[-1].append(message)
        elif message.type == "ai":
            if message.tool_calls or message.invalid_tool_calls:
                groups[-1].extend(_with_results(message, results))
            elif message.text if isinstance(message.content, list) else message.content:
                groups[-1].append(message)
    return [TurnGroup(tuple(group)) for group in groups if group]


def _with_results(message: AIMessage, results: dict[str, ToolMessage]) -> list[AnyMessage]:
    ids = call_ids(message)
    if not ids and not message.text:
        return []
    return [message, *(results.get(id) or ToolMessage(LOST_RESULT, tool_call_id=id) for id in ids)]
