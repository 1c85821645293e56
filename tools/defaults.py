"""What is put into arguments that fit: the schema's defaults, and integers where floats stood for them."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from jsonschema.protocols import Validator

from tools.dialects import Schema


def fill(schema: Schema, value: Any, validator: Validator, *, defaults: bool) -> Any:
    """Fill `value` in place along properties and items, and return it.

    A default that its own schema refuses ("dontcare" for an integer) is no value and is left out.
    """
    if not isinstance(schema, Mapping):
        return value
    if isinstance(value, float):
        whole = schema.get("type") == "integer" and value.is_integer()
        return int(value) if whole else value
    if isinstance(value, dict):
        for name, field in schema.get("properties", {}).items():
            if name in value:
                value[name] = fill(field, value[name], validator, defaults=defaults)
            elif defaults and _has_default(field, validator):
                value[name] = deepcopy(field["default"])
    elif isinstance(value, list) and isinstance(items := schema.get("items"), Mapping):
        value[:] = [fill(items, each, validator, defaults=defaults) for each in value]
    return value


def _has_default(field: Any, validator: Validator) -> bool:
    return (
        isinstance(field, Mapping)
        and "default" in field
        and bool(validator.evolve(schema=field).is_valid(field["default"]))
    )
