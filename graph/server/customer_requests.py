"""What a customer may ask of the server beyond sending a message: hardly anything. Pure.

The server's API was made for developers: a run may bring state of its own, jump to a node, start from an older
checkpoint, call a web hook. In the hands of a customer each of these would go round a guard: forged tool results
ground arguments, forged decisions approve a refund.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HUMAN = frozenset({"human", "user"})


def run_fault(kwargs: Mapping[str, Any]) -> str | None:
    """Why a customer's run is not taken, in a sentence for its sender; None where all is well."""
    if kwargs.get("webhook") or kwargs.get("interrupt_before") or kwargs.get("interrupt_after"):
        return "A run of a customer takes neither web hooks nor break points."
    configurable = (kwargs.get("config") or {}).get("configurable") or {}
    if configurable.get("checkpoint_id"):
        return "A run of a customer goes on from the latest state."
    command = kwargs.get("command")
    if command and set(_given(command)) != {"resume"}:
        return "A command of a customer may only resume."
    return None if kwargs.get("input") is None else _input_fault(kwargs["input"])


def _given(command: Mapping[str, Any]) -> list[str]:
    return [name for name, value in command.items() if value]


def _input_fault(given: Any) -> str | None:
    messages = given.get("messages") if isinstance(given, Mapping) else None
    if not isinstance(given, Mapping) or set(given) != {"messages"}:
        return 'A customer\'s input is {"messages": [one message]} and nothing else.'
    listed = messages if isinstance(messages, list) else [messages]
    if len(listed) != 1 or not _is_human(listed[0]):
        return "A customer sends one message of their own at a time."
    return None


def _is_human(message: Any) -> bool:
    if isinstance(message, str):
        return True
    if isinstance(message, Mapping):
        kinds = {message[name] for name in ("role", "type") if name in message}
        return bool(kinds) and kinds <= HUMAN and "lc" not in message
    return isinstance(message, list | tuple) and len(message) == 2 and message[0] in HUMAN
