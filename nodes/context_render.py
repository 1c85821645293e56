"""The plan written out as the messages that are sent. Pure, and the same bytes for the same plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage

from nodes.context_groups import since, turn_groups
from nodes.context_plan import OVERHEAD
from nodes.state import ContextPlan

RENDERED_KEPT = 2_000
"""Customers' messages that are kept as they were sent."""
Cut = Callable[[str, int], str]
"""Shortens a text to so many tokens, with a note."""


def render_context(
    plan: ContextPlan, system: str, messages: Sequence[AnyMessage], cut: Cut
) -> list[AnyMessage]:
    """Messages for the model: system, then whole turns, each with its background; the summary before the first."""
    groups = since(turn_groups(messages), plan["first_message_id"])
    rendered: list[AnyMessage] = [SystemMessage(system)]
    for index, group in enumerate(groups):
        latest = index == len(groups) - 1
        blocks = [plan["summary"] if index == 0 else "", plan["background"] if latest else group.block]
        turn = [_shortened(message, plan, cut) for message in group.messages]
        rendered.extend(_led_by(turn, [block for block in blocks if block]))
    if plan["notice"]:
        rendered.append(HumanMessage(plan["notice"]))
    return rendered


def _led_by(turn: list[AnyMessage], blocks: list[str]) -> list[AnyMessage]:
    """Put blocks of data before the customer's words, in the same message: roles keep alternating."""
    if not blocks:
        return [_plain(message) for message in turn]
    block, first = "\n\n".join(blocks), turn[0]
    if first.type == "human":
        words = first.content if isinstance(first.content, str) else str(first.text)
        return [_told(block, words, first.id), *(_plain(message) for message in turn[1:])]
    return [HumanMessage(block), *(_plain(message) for message in turn)]


@lru_cache(maxsize=RENDERED_KEPT)
def _told(block: str, words: str, id: str | None) -> HumanMessage:
    """History repeats what was sent before to the letter: each message of it is written once."""
    return HumanMessage(f"{block}\n\n<customer_message>\n{words}\n</customer_message>", id=id)


def _shortened(message: AnyMessage, plan: ContextPlan, cut: Cut) -> AnyMessage:
    limit = plan["shortened"].get(message.id or "")
    if limit is None:
        return message
    return message.model_copy(update={"content": cut(message.text, limit - OVERHEAD)})


def _plain(message: AnyMessage) -> AnyMessage:
    """Only what the protocol carries: text, calls with readable arguments, results."""
    if message.type == "ai":
        if not message.invalid_tool_calls and _is_bare(message):
            return message
        calls: list[Any] = [
            *message.tool_calls,
            *(
                {"type": "tool_call", "id": call["id"], "name": call["name"] or "unknown", "args": {}}
                for call in message.invalid_tool_calls
                if call["id"]
            ),
        ]
        return AIMessage(message.text, tool_calls=calls, id=message.id)
    if _is_bare(message):
        return message
    if isinstance(message, ToolMessage):
        return ToolMessage(message.text, tool_call_id=message.tool_call_id, id=message.id)
    return HumanMessage(message.text, id=message.id)


def _is_bare(message: AnyMessage) -> bool:
    """Whether nothing has to be taken off: to make a long history anew takes longer than to send it."""
    return isinstance(message.content, str) and not message.additional_kwargs and message.name is None
