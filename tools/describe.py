"""What a schema allows, in words for the model: "an integer from 1 to 10", "one of 'small', 'large'"."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tools.formats import WORDS

MAX_CHOICES = 40
MAX_VALUE = 80
"""Characters of a value that are repeated to the model."""

_TYPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def quoted(value: object) -> str:
    """A value as JSON, shortened."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_VALUE else text[:MAX_VALUE] + "…"


def describe(schema: Any) -> str:
    """One phrase; never longer than what a model needs to correct itself."""
    if not isinstance(schema, Mapping):
        return "nothing" if schema is False else "any value"
    if "const" in schema:
        return f"exactly {quoted(schema['const'])}"
    if isinstance(choices := schema.get("enum"), Sequence) and choices:
        return _choices(choices)
    for combinator in ("anyOf", "oneOf"):
        if branches := schema.get(combinator):
            return "; or ".join(dict.fromkeys(map(describe, branches)))
    types = schema.get("type")
    names = [types] if isinstance(types, str) else list(types or ())
    if not names:
        names = _implied(schema)
    return " or ".join(_typed(name, schema) for name in names) or "any value"


def _choices(choices: Sequence[object]) -> str:
    shown = ", ".join(quoted(each) for each in choices[:MAX_CHOICES])
    rest = len(choices) - MAX_CHOICES
    lead = "" if len(choices) == 1 else "one of "
    return lead + shown + (f" and {rest} more" if rest > 0 else "")


def _implied(schema: Mapping[str, Any]) -> list[str]:
    if "properties" in schema:
        return ["object"]
    if "items" in schema:
        return ["array"]
    if {"pattern", "format", "minLength", "maxLength"} & schema.keys():
        return ["string"]
    return ["number"] if {"minimum", "maximum"} & schema.keys() else []


def _typed(name: str, schema: Mapping[str, Any]) -> str:
    if name == "string":
        return _string(schema)
    if name in ("integer", "number"):
        return _number(_TYPES[name], schema)
    if name == "array":
        return _array(schema)
    if name == "object" and (properties := schema.get("properties")):
        return f"an object with {', '.join(properties)}"
    return _TYPES.get(name, name)


def _string(schema: Mapping[str, Any]) -> str:
    words = WORDS.get(str(schema.get("format")), "a string")
    least, most = schema.get("minLength"), schema.get("maxLength")
    if least is not None and most is not None:
        words += f" of {least} to {most} characters"
    elif least is not None:
        words += f" of at least {least} characters"
    elif most is not None:
        words += f" of at most {most} characters"
    if pattern := schema.get("pattern"):
        words += f" matching {pattern}"
    if examples := schema.get("examples"):
        words += f", for example {quoted(examples[0])}" if isinstance(examples, list) else ""
    return words


def _number(words: str, schema: Mapping[str, Any]) -> str:
    bounds = [
        (schema.get("minimum"), "at least"),
        (schema.get("exclusiveMinimum"), "above"),
        (schema.get("maximum"), "at most"),
        (schema.get("exclusiveMaximum"), "below"),
    ]
    if schema.get("minimum") is not None and schema.get("maximum") is not None:
        words += f" from {schema['minimum']} to {schema['maximum']}"
    else:
        given = [f"{word} {bound}" for bound, word in bounds if bound is not None]
        words += f" {' and '.join(given)}" if given else ""
    if step := schema.get("multipleOf"):
        words += f", a multiple of {step}"
    return words


def _array(schema: Mapping[str, Any]) -> str:
    items = schema.get("items")
    words = f"a list, each item {describe(items)}" if isinstance(items, Mapping) and items else "a list"
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None or most is not None:
        words += f" ({'' if least is None else f'at least {least}'}"
        words += f"{' and ' if least is not None and most is not None else ''}"
        words += f"{'' if most is None else f'at most {most}'} items)"
    return words
