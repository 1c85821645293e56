"""From the argument text of a call to its object, where that has one reading only.

What surrounds the object (a code fence, a tag, a sentence) is set aside; a text encoded twice is decoded. Two
objects in one text, more arguments after the object, or an object that is not closed are refused: nothing
runs on half of what was meant. Whether the object fits the tool is for `tools.arguments` to say.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from tools.json_text import Unreadable, exact_json, read_json, read_value
from tools.spec import Arguments

GLUED = "there is more than one object; send one call for each object"
MAX_LAYERS = 3
"""How often a text may have been encoded as a JSON string."""

_LOST_OPENING = re.compile(r"[\"“”}\]]|[,，]\s*[\w-]+\s*[:：=]\s*$|\[\s*$")
_CONTINUES = re.compile(r"^\s*[,，]|[\"“”\[:：=]")


@dataclass(frozen=True)
class ReadArguments:
    args: Arguments
    note: str | None = None
    """What was set right, for the log; None where the text was a plain object, or empty."""


def plain_object(text: str | None) -> Arguments:
    """The object of a text that is valid JSON, or is empty or null (a call without arguments).

    Raises Unreadable for every other text, also for one that `read_arguments` can read.
    """
    if text is None or not text.strip():
        return {}
    try:
        value = exact_json(text)
    except json.JSONDecodeError as fault:
        raise Unreadable(f"{fault.msg.lower()} at position {fault.pos}") from None
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    raise Unreadable(_not_an_object(value))


def read_arguments(text: str) -> ReadArguments:
    """The object that `text` stands for, near misses included. Raises Unreadable with words for the model."""
    for layer in range(MAX_LAYERS):
        value, note = _read_layer(text.strip())
        if isinstance(value, dict):
            return ReadArguments(value, "decoded twice" if layer else note)
        if not isinstance(value, str):
            break
        text = value
    raise Unreadable(_not_an_object(value))


def _read_layer(text: str) -> tuple[object, str | None]:
    if not text:
        return {}, None
    try:
        reading = read_json(text)
    except Unreadable:
        if "{" not in text:
            raise
        return _embedded_object(text), "taken out of the text around it"
    if reading.value is None:
        return {}, None
    if isinstance(reading.value, list) and len(reading.value) == 1 and isinstance(reading.value[0], dict):
        return reading.value[0], "taken out of a list"
    return reading.value, None if reading.exact else "punctuation set right"


def _embedded_object(text: str) -> object:
    start = text.index("{")
    if _LOST_OPENING.search(text[:start]):
        raise Unreadable("it is not one JSON object from its first brace to its last")
    value, end = read_value(text, start)
    rest = text[end:]
    if "{" in rest:
        raise Unreadable(GLUED)
    if _CONTINUES.search(rest):
        raise Unreadable("the object is closed, but more arguments follow it")
    return value


def _not_an_object(value: object) -> str:
    if isinstance(value, list):
        objects = sum(isinstance(each, dict) for each in value)
        return GLUED if objects > 1 else "it is a list, not an object"
    return f"it is a JSON {'string' if isinstance(value, str) else 'value'}, not an object"
