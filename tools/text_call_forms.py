"""The forms in which models write a call as text, and what a piece of text in such a form says.

{"name": N, "arguments": {…}}      also `parameters`, `args`, a JSON text in their place, lists of these
{"function": {"name": N, …}}       OpenAI's own wrapping, also under `tool_calls`
{"N": {…}}                         the tool's name as the only key
<function=N><parameter=P>V</parameter></function>, N{…}     inside a tag
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import regex

from tools.json_text import CUT_OFF, Unreadable, read_json, read_value

NAME_KEYS = ("name", "tool", "tool_name", "function_name", "function", "action")
ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "tool_input", "action_input", "kwargs")
OTHER_KEYS = ("id", "type", "index", "call_id")

_XML = re.compile(r"<function=([^<>\s]+)>(.*?)(?:</function>|$)", re.DOTALL)
_XML_PARAMETER = re.compile(r"<parameter=([^<>\s]+)>\n?(.*?)\n?</parameter>", re.DOTALL)
_NAME_BEFORE = re.compile(r"([A-Za-z_][\w.-]*)\s*(?:\[ARGS\]|```(?:json)?|[(:>])?\s*$")
_NAMED = re.compile(rf"[\"']?(?:{'|'.join(NAME_KEYS)})[\"']?\s*:\s*[\"']([^\"']+)[\"']")


@lru_cache(maxsize=256)
def key_pattern(offered: tuple[str, ...]) -> regex.Pattern[str]:
    """What an object begins with that may be a call."""
    keys = [*NAME_KEYS, *ARGUMENT_KEYS, *OTHER_KEYS, "tool_calls", *offered]
    listed = "|".join(regex.escape(key) for key in keys)
    return regex.compile(rf"(?:\[\s*)?\{{\s*[\"'“]?(?:{listed})[\"'”]?\s*[:：]")


@dataclass(frozen=True)
class TextCall:
    """One call in a text."""

    name: str
    args: Mapping[str, Any] | None
    text: str = ""
    """The argument text, where it is no object."""
    explicit: bool = True
    """Nothing but a call looks like this, so that faulty arguments are told to the model like those of any
    call; a looser form counts only when the arguments are right."""


def calls_in_json(value: Any) -> list[TextCall]:
    """The calls that a JSON value stands for; none where any part of it is something else."""
    if isinstance(value, list):
        each = [calls_in_json(item) for item in value]
        return [call for calls in each for call in calls] if each and all(each) else []
    if not isinstance(value, dict) or not value:
        return []
    if isinstance(wrapped := value.get("tool_calls"), list):
        return calls_in_json(wrapped)
    if isinstance(wrapped := value.get("function"), dict):
        return calls_in_json(wrapped)
    return _named_call(value) or _keyed_call(value)


def _named_call(value: dict[str, Any]) -> list[TextCall]:
    names = [key for key in NAME_KEYS if isinstance(value.get(key), str)]
    arguments = [key for key in ARGUMENT_KEYS if key in value]
    rest = value.keys() - {*names, *arguments, *OTHER_KEYS}
    if len(names) != 1 or len(arguments) > 1 or rest:
        return []
    name = value[names[0]]
    if not arguments:
        return [TextCall(name, {}, explicit=False)]
    written = value[arguments[0]]
    if isinstance(written, str):
        return [TextCall(name, None, written)]
    return [TextCall(name, written or {})] if isinstance(written, dict | None) else []


def _keyed_call(value: dict[str, Any]) -> list[TextCall]:
    name, args = next(iter(value.items()))
    return [TextCall(name, args, explicit=False)] if len(value) == 1 and isinstance(args, dict) else []


def calls_in_tag(content: str) -> list[TextCall]:
    """The calls between a tag and its end, whatever their form; one that is cut off keeps its text."""
    xml = [_xml_call(found[1], found[2]) for found in _XML.finditer(content)]
    return xml or list(_json_calls(content))


def _xml_call(name: str, body: str) -> TextCall:
    parameters = _XML_PARAMETER.findall(body)
    if parameters or not body.strip():
        return TextCall(name, dict(parameters))
    return TextCall(name, None, body)


def _json_calls(content: str) -> Iterator[TextCall]:
    position = 0
    while (start := content.find("{", position)) >= 0:
        try:
            value, end = read_value(content, start)
        except Unreadable:
            yield from cut_off_call(content[start:])
            return
        calls = calls_in_json(value)
        before = _NAME_BEFORE.search(content[position:start])
        if before and not any(call.explicit for call in calls):
            calls = [TextCall(before[1], value)]
        yield from calls
        position = end


def cut_off_call(text: str) -> list[TextCall]:
    """A call that begins but does not end, or cannot be read: its name, and the text."""
    named = _NAMED.search(text)
    return [TextCall(named[1], None, text)] if named and text.lstrip("[ \n").startswith("{") else []


def block_calls(text: str) -> list[TextCall]:
    """The calls that a whole block of text (a code fence's content) consists of."""
    if text.lstrip().startswith("<"):
        return calls_in_tag(text)
    try:
        return calls_in_json(read_json(text).value)
    except Unreadable as fault:
        return cut_off_call(text) if str(fault) == CUT_OFF else _json_lines(text)


def _json_lines(text: str) -> list[TextCall]:
    """One object a line."""
    try:
        values = [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError:
        return []
    return calls_in_json(values)
