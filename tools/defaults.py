"""The last touch on arguments that fit: defaults, integers where floats stood for them, null where its name stood."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from jsonschema.protocols import Validator

from tools.dialects import Schema


def fill(schema: Schema, value: Any, validator: Validator, notes: list[str], *, defaults: bool) -> Any:
    """Fill `value` in place along properties and items, and return it.

    A default that its own schema refuses ("dontcare" for an integer) is no value and is left out. The text "null"
    for what may be null is not a text that anyone means.
    """
    if not isinstance(schema, Mapping):
        return value
    if isinstance(value, float):
        whole = schema.get("type") == "integer" and value.is_integer()
        return int(value) if whole else value
    if isinstance(value, dict):
        for name, field in schema.get("properties", {}).items():
            if value.get(name) == "null" and _may_be_null(field):
                value[name] = None
                notes.append(f"{name}: read as null")
            elif name in value:
                value[name] = fill(field, value[name], validator, notes, defaults=defaults)
            elif defaults and _has_default(field, validator):
                value[name] = deepcopy(field["default"])
    elif isinstance(value, list) and isinstance(items := schema.get("items"), Mapping):
        value[:] = [fill(items, each, validator, notes, defaults=defaults) for each in value]
    return value


def _may_be_null(field: Any) -> bool:
    if not isinstance(field, Mapping) or "enum" in field:
        return False
    types = field.get("type", ())
    branches = (*field.get("anyOf", ()), *field.get("oneOf", ()))
    return (isinstance(types, list) and "null" in types) or {"type": "null"} in branches


def _has_default(field: Any, validator: Validator) -> bool:
    return (
        isinstance(field, Mapping)
        and "default" in field
        and bool(validator.evolve(schema=field).is_valid(field["default"]))
    )
