"""The shape of an argument schema: in standard terms, references inlined, closed to unknown names.

    normalised    loose spellings that servers really use (`dict`, `nullable`, a boolean `required`)
    inlined       `$ref` replaced by what it points to, since models read a nested schema better
    closed        `additionalProperties: false` wherever the schema says which names there are
    for_model     what the model is shown: without titles and bookkeeping keywords

Each is a pure function that returns a new schema.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tools.errors import DeclarationError

Json = dict[str, Any]

MAX_EXPANSIONS = 500

_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLES = (
    *("items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"),
    *("contains", "propertyNames", "not", "if", "then", "else"),
)
_IN_PLACE = ("allOf", "anyOf", "oneOf", "then", "else", "dependentSchemas", "$ref", "$dynamicRef")

_LOOSE_TYPES = {
    **{"dict": "object", "map": "object", "struct": "object", "hashmap": "object"},
    **{"list": "array", "tuple": "array", "set": "array", "arraylist": "array"},
    **{"float": "number", "double": "number", "decimal": "number"},
    **{"int": "integer", "long": "integer", "short": "integer"},
    **{"str": "string", "text": "string", "char": "string", "bool": "boolean", "none": "null"},
}
_STANDARD_TYPES = {"string", "number", "integer", "boolean", "object", "array", "null"}


def each_subschema(schema: Json, change: Callable[[Any], Any]) -> Json:
    """`schema` with `change` applied to the schemas directly inside it."""
    changed = dict(schema)
    for key in _MAPS:
        if isinstance(inner := schema.get(key), Mapping):
            changed[key] = {name: change(each) for name, each in inner.items()}
    for key in _LISTS:
        if isinstance(inner := schema.get(key), list):
            changed[key] = [change(each) for each in inner]
    for key in _SINGLES:
        if isinstance(inner := schema.get(key), Mapping):
            changed[key] = change(inner)
    if isinstance(inner := schema.get("items"), list):
        changed["items"] = [change(each) for each in inner]
    return changed


def normalised(schema: Any) -> Any:
    """Standard type names; OpenAPI's `nullable`; `required: true` at a property moved to its object."""
    if not isinstance(schema, Mapping):
        return schema
    changed = each_subschema(dict(schema), normalised)
    if "type" in changed and (types := _standard_types(changed.pop("type"))):
        changed["type"] = types
    if changed.pop("nullable", False) is True:
        changed = _or_null(changed)
    if isinstance(properties := schema.get("properties"), Mapping):
        flagged = [
            name
            for name, field in properties.items()
            if isinstance(field, Mapping) and field.get("required") is True
        ]
        listed = changed.get("required")
        listed = list(listed) if isinstance(listed, list) else []
        if flagged or "required" in changed:
            changed["required"] = [*listed, *(name for name in flagged if name not in listed)]
    elif isinstance(changed.get("required"), bool):
        del changed["required"]
    return changed


def _standard_types(types: Any) -> Any:
    """None where the name says nothing (`any`)."""
    if isinstance(types, list):
        known = [each for each in map(_standard_types, types) if each]
        return known if len(known) == len(types) else None
    name = str(types)
    if name in _STANDARD_TYPES:
        return name
    return _LOOSE_TYPES.get(name.lower(), name.lower() if name.lower() in _STANDARD_TYPES else None)


def _or_null(schema: Json) -> Json:
    types = schema.get("type")
    if isinstance(types, str):
        schema["type"] = [types, "null"]
    elif isinstance(types, list) and "null" not in types:
        schema["type"] = [*types, "null"]
    if isinstance(choices := schema.get("enum"), list) and None not in choices:
        schema["enum"] = [*choices, None]
    return schema


def inlined(schema: Json, tool: str) -> Json:
    """References into the schema itself replaced by their targets; recursive ones stay, with definitions.

    A schema that would grow beyond reason (more than MAX_EXPANSIONS references followed) is left as it is.
    Raises DeclarationError where a reference leads nowhere or out of the schema.
    """
    inliner = _Inliner(schema, tool)
    root = {key: value for key, value in schema.items() if key not in _DEFINITIONS}
    result: Json = inliner.resolve(root, ())
    if inliner.expanded > MAX_EXPANSIONS:
        return schema
    for key in _DEFINITIONS:
        needed = {
            name: inliner.resolve(each, (f"#/{key}/{name}",))
            for name, each in schema.get(key, {}).items()
            if f"#/{key}/{name}" in inliner.kept
        }
        if needed:
            result[key] = needed
    return result


class _Inliner:
    def __init__(self, schema: Json, tool: str) -> None:
        self.kept: set[str] = set()
        """References that stay, since they lead back to themselves."""
        self.expanded = 0
        self._schema = schema
        self._tool = tool

    def resolve(self, node: Any, following: tuple[str, ...]) -> Any:
        """`node` without references; `following` are those on the way to it."""
        if not isinstance(node, Mapping):
            return node
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return each_subschema(dict(node), lambda inner: self.resolve(inner, following))
        self.expanded += 1
        target = _target(self._schema, reference, self._tool)
        if self.expanded > MAX_EXPANSIONS:
            return dict(node)
        if reference in following or reference == "#":
            self.kept.add(reference)
            return dict(node)
        beside = {key: value for key, value in node.items() if key != "$ref"}
        beside = each_subschema(beside, lambda inner: self.resolve(inner, following))
        return _joined(beside, self.resolve(target, (*following, reference)))


def _joined(beside: Json, found: Any) -> Any:
    """A reference's target with what stood beside the reference."""
    if not isinstance(found, Mapping):
        return found
    clash = any(key in found and found[key] != beside[key] for key in beside.keys() - _NOTES)
    return {**beside, "allOf": [found]} if clash else {**found, **beside}


_DEFINITIONS = ("$defs", "definitions")
_NOTES = frozenset({"description", "title", "default", "examples", "deprecated"})


def _target(schema: Json, reference: str, tool: str) -> Any:
    found: Any = schema
    try:
        if not reference.startswith("#"):
            raise KeyError(reference)
        for part in filter(None, reference[1:].split("/")):
            part = part.replace("~1", "/").replace("~0", "~").replace("%25", "%")
            found = found[int(part)] if isinstance(found, list) else found[part]
    except (KeyError, IndexError, ValueError, TypeError):
        raise DeclarationError(
            f"Tool {tool!r}: the reference {reference!r} in its schema leads nowhere. Bring what it names."
        ) from None
    return found


def closed(schema: Json, *, deep: bool = True) -> Json:
    """An object schema that refuses unknown names; with `deep` wherever properties are listed, else at the top.

    What the schema says itself about other names (`additionalProperties: {…}`) stands. An object that lists
    no properties is a free-form one below the top, and a tool without arguments at the top.
    """
    top = {"type": "object", **schema}
    if not top.keys() & {"properties", "patternProperties", *_IN_PLACE}:
        top["properties"] = {}
    result: Json = _closed(top) if deep else _closed_itself(top, top)
    return result


def _closed(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    return _closed_itself(schema, each_subschema(dict(schema), _closed))


def _closed_itself(schema: Mapping[str, Any], changed: Json) -> Json:
    """`changed`, made from `schema`, closed if it is an object with listed properties."""
    changed = dict(changed)
    if "properties" not in schema:
        return changed
    # Branches that complete this object know only a part of its names: they stay open, the whole is closed.
    for key in _IN_PLACE:
        if key in schema:
            changed[key] = schema[key]
    if "additionalProperties" not in schema and "unevaluatedProperties" not in schema:
        names = set(schema["properties"])
        elsewhere = any(_brings_names(schema[key], names) for key in _IN_PLACE if key in schema)
        changed["unevaluatedProperties" if elsewhere else "additionalProperties"] = False
    return changed


def _brings_names(part: Any, known: set[str]) -> bool:
    """Whether a branch knows names of its own."""
    if isinstance(part, str):
        return True
    if isinstance(part, list):
        return any(_brings_names(each, known) for each in part)
    if not isinstance(part, Mapping):
        return False
    if set(part.get("properties", {})) - known or "patternProperties" in part:
        return True
    return any(_brings_names(part[key], known) for key in _IN_PLACE if key in part)


def for_model(schema: Json) -> Json:
    """Without what only tools read: generated titles, `$schema`, `$id`, comments."""

    def strip(node: Any) -> Any:
        if not isinstance(node, Mapping):
            return node
        kept = {key: value for key, value in node.items() if key not in ("$schema", "$id", "$comment")}
        if isinstance(kept.get("title"), str):
            del kept["title"]
        return each_subschema(kept, strip)

    result: Json = strip(schema)
    return result
