"""Compiled validators: one a schema, by the draft that the schema names, without any network.

Beyond the `jsonschema` library's own classes: numbers are finite, patterns are ECMA 262 (`tools.patterns`),
and references reach nothing but the schema itself and the drafts' own meta-schemas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from threading import Lock
from typing import Any

from cachetools import LRUCache
from jsonschema import Draft7Validator, Draft202012Validator, validators
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema_specifications import REGISTRY
from regex import error as PatternError  # noqa: N812

from tools.errors import DeclarationError
from tools.formats import format_checker
from tools.patterns import compiled, matches

Schema = Mapping[str, Any]

_FORMATS = format_checker()
_COMPILED: LRUCache[int, tuple[Schema, Validator]] = LRUCache(maxsize=4096)
_LOCK = Lock()


def validator_of(schema: Schema) -> Validator:
    """The compiled validator of this very object, which must not be changed afterwards."""
    key = id(schema)
    with _LOCK:
        held = _COMPILED.get(key)
    if held is not None and held[0] is schema:
        return held[1]
    validator = compile_schema(schema)
    with _LOCK:
        _COMPILED[key] = (schema, validator)
    return validator


def compile_schema(schema: Schema | bool) -> Validator:
    """Without the cache; boolean schemas too.

    `format` is checked, unless the schema names a draft that makes it an annotation (2019-09 and later).
    """
    named = str(schema.get("$schema", "")) if isinstance(schema, Mapping) else ""
    formats = None if "/draft/20" in named else _FORMATS
    return _dialect(_base(schema))(schema, registry=REGISTRY, format_checker=formats)


def check_schema(schema: Schema, tool: str) -> None:
    """Raise DeclarationError where `schema` is no valid JSON Schema or holds a pattern nobody can read."""
    try:
        _base(schema).check_schema(dict(schema))
        for pattern in _patterns(schema):
            compiled(pattern)
    except (SchemaError, PatternError) as fault:
        where = "/".join(map(str, getattr(fault, "absolute_path", ())))
        raise DeclarationError(
            f"Tool {tool!r}: its arguments are no valid JSON Schema"
            f"{f' at {where}' if where else ''}: {getattr(fault, 'message', fault)}. Correct the schema."
        ) from fault


def _base(schema: Schema | bool) -> type[Validator]:
    default: Any = Draft202012Validator
    if isinstance(schema, Mapping) and "$schema" not in schema and _has_positional_items(schema):
        default = Draft7Validator
    found: type[Validator] = validators.validator_for(schema, default=default)
    return found


def _has_positional_items(schema: object) -> bool:
    """`items` as a list: drafts up to 7 wrote tuples so, and many servers do without naming a draft."""
    if isinstance(schema, Mapping):
        return isinstance(schema.get("items"), list) or any(map(_has_positional_items, schema.values()))
    return isinstance(schema, list) and any(map(_has_positional_items, schema))


def _patterns(schema: object) -> Iterator[str]:
    if isinstance(schema, Mapping):
        for key, value in schema.items():
            if key == "pattern" and isinstance(value, str):
                yield value
            elif key == "patternProperties" and isinstance(value, Mapping):
                yield from value
            yield from _patterns(value)
    elif isinstance(schema, list):
        for each in schema:
            yield from _patterns(each)


def _is_number(checker: object, value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and isfinite(value))


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not matches(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for pattern, subschema in patterns.items():
            for name, value in instance.items():
                if matches(pattern, name):
                    yield from validator.descend(value, subschema, path=name, schema_path=pattern)


def unknown_names(instance: Mapping[str, Any], schema: Schema) -> list[str]:
    """Names that neither `properties` nor `patternProperties` of this very schema speak of."""
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    return [
        name
        for name in instance
        if name not in known and not any(matches(pattern, name) for pattern in patterns)
    ]


def _additional_properties(
    validator: Any, allowed: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    unknown = unknown_names(instance, schema)
    if isinstance(allowed, Mapping):
        for name in unknown:
            yield from validator.descend(instance[name], allowed, path=name)
    elif not allowed and unknown:
        yield ValidationError(f"unknown: {', '.join(sorted(unknown))}")


_DIALECTS: dict[type[Validator], type[Validator]] = {}


def _dialect(base: type[Validator]) -> type[Validator]:
    if base not in _DIALECTS:
        _DIALECTS[base] = validators.extend(  # type: ignore[no-untyped-call]
            base,
            {
                "pattern": _pattern,
                "patternProperties": _pattern_properties,
                "additionalProperties": _additional_properties,
            },
            type_checker=base.TYPE_CHECKER.redefine("number", _is_number),
        )
    return _DIALECTS[base]
