"""A schema under the rules of OpenAI's `strict` flag, where it can be put so.

Every property is required there, so an optional one may be null (which validation takes as left out);
keywords outside the supported set are told in the description; free-form objects cannot be told at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.describe import quoted
from tools.schema import Json

_KEPT = frozenset(
    {
        *("type", "description", "enum", "const", "properties", "required", "additionalProperties"),
        *("items", "anyOf", "$ref", "$defs", "pattern", "multipleOf", "minimum", "maximum"),
        *("exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems", "format"),
    }
)
_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
_TOLD = {"minLength": "At least {} characters.", "maxLength": "At most {} characters."}
_UNTOLD = frozenset({"title", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "default"})


class _Impossible(Exception):
    """The schema says what strict mode cannot."""


def strict(schema: Json) -> Json | None:
    """`schema` for strict mode, or None where it cannot be put so (a map of free names, conditions)."""
    try:
        return _strict(schema)
    except _Impossible:
        return None


def _strict(schema: Any) -> Json:
    if not isinstance(schema, Mapping) or not schema:
        raise _Impossible
    words = [str(schema["description"]).strip()] if schema.get("description") else []
    words += [told.format(schema[key]) for key, told in _TOLD.items() if key in schema]
    if "default" in schema and schema["default"] is not None:
        words.append(f"Default: {quoted(schema['default'])}.")
    if isinstance(examples := schema.get("examples"), list) and examples:
        words.append(f"For example {quoted(examples[0])}.")
    source = dict(schema)
    if "oneOf" in source and "anyOf" not in source:
        source["anyOf"] = source.pop("oneOf")
    if source.get("format") not in _FORMATS:
        source.pop("format", None)
    if unsupported := source.keys() - _KEPT - _UNTOLD - _TOLD.keys():
        raise _Impossible(unsupported)
    result = {key: value for key, value in source.items() if key in _KEPT and key != "description"}
    if words:
        result["description"] = " ".join(words)
    _inner(result)
    return result


def _inner(result: Json) -> None:
    types = result.get("type")
    if types == "object" or (isinstance(types, list) and "object" in types) or "properties" in result:
        if "properties" not in result or result.get("additionalProperties") is not False:
            raise _Impossible
        required = set(result.get("required", ()))
        result["properties"] = {
            name: _strict(field) if name in required else _optional(_strict(field))
            for name, field in result["properties"].items()
        }
        result["required"] = list(result["properties"])
    if "items" in result:
        result["items"] = _strict(result["items"])
    elif types == "array":
        raise _Impossible
    if "anyOf" in result:
        result["anyOf"] = [_strict(branch) for branch in result["anyOf"]]
    if "$defs" in result:
        result["$defs"] = {name: _strict(each) for name, each in result["$defs"].items()}


def _optional(field: Json) -> Json:
    """The same, or null."""
    types = field.get("type")
    if "enum" in field and None not in field["enum"]:
        field = {**field, "enum": [*field["enum"], None]}
    if isinstance(types, str) and types != "null":
        return {**field, "type": [types, "null"]}
    if isinstance(types, list):
        return field if "null" in types else {**field, "type": [*types, "null"]}
    if "anyOf" in field:
        nullable = any(branch.get("type") == "null" for branch in field["anyOf"])
        return field if nullable else {**field, "anyOf": [*field["anyOf"], {"type": "null"}]}
    if "const" in field or "$ref" in field:
        described = {"description": field["description"]} if "description" in field else {}
        inner = {key: value for key, value in field.items() if key != "description"}
        return {"anyOf": [inner, {"type": "null"}], **described}
    return field
