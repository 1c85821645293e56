"""What the tools of one turn were about, and what they confirmed of the customer's own data. Pure.

Only values that a tool declares (`identifiers`, `details`, grounded arguments) count; free text of a result never does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from tools.paths import scalars
from tools.registry import ToolRegistry
from tools.spec import ToolSpec

MOST_OBJECTS = 10
MOST_CONFIRMED = 20
LONGEST_VALUE = 120
"""Characters; what is longer is a text, not a value."""


def objects_of(messages: Sequence[AnyMessage], registry: ToolRegistry) -> tuple[str, ...]:
    """Order numbers and the like that the turn's successful calls named or gave, in order."""
    found: dict[str, None] = {}
    for spec, arguments, data in _successes(messages, registry):
        grounded = [path for path, kind in spec.grounded.items() if kind == "identifier"]
        found |= dict.fromkeys([*scalars(arguments, grounded), *scalars(data, spec.identifiers)])
    return tuple(value for value in found if _is_value(value))[:MOST_OBJECTS]


def confirmed_by_tools(messages: Sequence[AnyMessage], registry: ToolRegistry) -> tuple[str, ...]:
    """`address: …`: declared values of the turn's successful results, each by the last step of its path."""
    found: dict[str, None] = {}
    for spec, _, data in _successes(messages, registry):
        for path in (*spec.identifiers, *spec.details):
            name = path.rpartition(".")[2].removesuffix("[]")
            found |= {f"{name}: {value}": None for value in scalars(data, [path]) if _is_value(value)}
    return tuple(found)[:MOST_CONFIRMED]


def _is_value(text: str) -> bool:
    return len(text) <= LONGEST_VALUE and "\n" not in text


def _successes(messages: Sequence[AnyMessage], registry: ToolRegistry) -> Iterator[tuple[ToolSpec, Any, Any]]:
    """Tool, arguments and data of each call that has an `ok` result."""
    calls = {c["id"]: c for m in messages if isinstance(m, AIMessage) for c in m.tool_calls}
    for message in messages:
        if not isinstance(message, ToolMessage) or message.tool_call_id not in calls:
            continue
        call = calls[message.tool_call_id]
        spec = registry.get(message.name or call["name"])
        try:
            envelope = json.loads(message.text)
        except ValueError:
            continue
        if spec is not None and isinstance(envelope, dict) and envelope.get("status") == "ok":
            yield spec, call["args"], envelope.get("data")
