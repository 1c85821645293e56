"""JSON Schemas of the roles' answers, in the plain form that every endpoint understands."""

from __future__ import annotations

from functools import cache
from typing import Any

from langchain_core.utils.json_schema import dereference_refs
from pydantic import BaseModel

_NOT_SENT = frozenset({"default", "minLength", "minProperties"})
"""Keywords that some endpoints refuse; the answer is validated here anyway."""


@cache
def plain_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model, not to be changed: objects closed, no references, titles or defaults."""
    whole: dict[str, Any] = dereference_refs(model.model_json_schema())
    whole.pop("$defs", None)
    plain: dict[str, Any] = _plain(whole)
    return plain


def is_closed(schema: Any) -> bool:
    """Whether OpenAI's strict mode can express the schema: it knows no objects with free keys."""
    if isinstance(schema, list):
        return all(is_closed(part) for part in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" and "properties" not in schema:
        return False
    return all(is_closed(part) for part in schema.values())


def all_required(node: Any) -> Any:
    """The schema with every property required, as the strict mode wants it."""
    if isinstance(node, list):
        return [all_required(part) for part in node]
    if not isinstance(node, dict):
        return node
    kept = {key: all_required(value) for key, value in node.items()}
    if isinstance(kept.get("properties"), dict):
        kept["required"] = list(kept["properties"])
    return kept


def _plain(node: Any) -> Any:
    if isinstance(node, list):
        return [_plain(part) for part in node]
    if not isinstance(node, dict):
        return node
    kept = {
        key: {name: _plain(part) for name, part in value.items()} if key == "properties" else _plain(value)
        for key, value in node.items()
        if key not in _NOT_SENT and not (key == "title" and isinstance(value, str))
    }
    if "properties" in kept:
        kept["additionalProperties"] = False
    return kept
