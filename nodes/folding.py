"""When a session grows long, its oldest turns are handed to the summariser before they have to be left out. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from memory.borrowed import without_copies
from nodes.context_groups import TurnGroup, number_until, since, turn_groups
from nodes.foreign_text import foreign_text
from nodes.state import ContextPlan
from tools.essentials import facts_in

FOLD_FROM = 0.9
"""Of the history's limit: from here on the oldest turns are folded, well before the first is left out."""
FOLD_SHARE = 0.4
"""Of the earlier turns, by size: folded at a time."""
MOST_FACTS = 40
"""Of one tool result, told to the summariser."""


@dataclass(frozen=True)
class Fold:
    """The turns to fold, oldest first, as who said what."""

    messages: tuple[tuple[str, str], ...]
    until: str
    """Id of the newest message among them."""


def is_fold_due(plan: ContextPlan) -> bool:
    """Whether the history nears its budget."""
    return plan["earlier"]["next"] >= FOLD_FROM * plan["earlier"]["limit"]


def turns_to_fold(plan: ContextPlan, messages: Sequence[AnyMessage], folded_until: str | None) -> Fold | None:
    """What to fold after a turn; None where nothing was said before it.

    It begins after what the summary covers, so that a turn which was left out for want of room is folded too.
    """
    groups = turn_groups(messages)[:-1]
    groups = groups[number_until(groups, folded_until) :]
    folded = _oldest(groups, plan)
    spoken = tuple(line for group in folded for line in _spoken(group))
    until = folded[-1].messages[-1].id if folded else None
    return Fold(spoken, until) if spoken and until else None


def _oldest(groups: Sequence[TurnGroup], plan: ContextPlan) -> list[TurnGroup]:
    """What is no longer sent, and half of what still is."""
    start = len(groups) - len(since(groups, plan["first_message_id"]))
    sizes = [sum(len(str(message.text)) for message in group.messages) for group in groups]
    room = sum(sizes[start:]) * FOLD_SHARE
    end = start
    while end < len(groups) and (end == start or room >= sizes[end] / 2):
        room -= sizes[end]
        end += 1
    return list(groups[:end])


def _spoken(group: TurnGroup) -> list[tuple[str, str]]:
    """What was said to one another, and of each tool result the numbers and codes that a later step may need.

    Of an answer without what it only quotes from a result: that would outlive the result as part of the summary.
    """
    lines = []
    foreign = foreign_text(group.messages)
    own = [str(message.text) for message in group.messages if isinstance(message, HumanMessage)]
    called: dict[str, str] = {}
    for message in group.messages:
        if isinstance(message, HumanMessage):
            lines.append(("customer", str(message.text)))
        elif isinstance(message, ToolMessage):
            facts = ", ".join(facts_in(str(message.text))[:MOST_FACTS])
            lines.append(("tool", f"{called.get(message.tool_call_id, '')}: {facts or 'no figures'}"))
        elif isinstance(message, AIMessage):
            for call in message.tool_calls:
                called[call["id"] or ""] = f"{call['name']} {json.dumps(call['args'], ensure_ascii=False)}"
            if message.text and not message.tool_calls:
                lines.append(("agent", without_copies(str(message.text), own, foreign)))
    return lines
