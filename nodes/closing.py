"""Turns that were cut off before their end: what the customer said in them is remembered all the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from nodes.context_groups import call_ids


@dataclass(frozen=True)
class UnclosedTurn:
    """A customer's message whose turn never came to its end, and the answer that it may have had."""

    message_id: str
    customer: str
    answer: str


def unclosed_turns(messages: Sequence[AnyMessage], closed: str | None, current: str) -> list[UnclosedTurn]:
    """Those after the message `closed`, whose turn was the last to end, and before the `current` one."""
    ids = [message.id for message in messages]
    if closed is not None and closed not in ids:
        return []
    start = ids.index(closed) + 1 if closed is not None else 0
    found: list[UnclosedTurn] = []
    for message in messages[start:]:
        if message.id == current:
            break
        if isinstance(message, HumanMessage) and message.text.strip():
            found.append(UnclosedTurn(message.id or "", message.text, ""))
        elif isinstance(message, AIMessage) and found and not call_ids(message):
            found[-1] = UnclosedTurn(found[-1].message_id, found[-1].customer, message.text)
    return found
