"""Calls that the model wrote as text (T14): read like any other call, and never shown to the customer.

One scanner serves both uses. It looks at a text from left to right and decides, piece by piece, what is plain
text and what is a call; a piece stays undecided while more text could make it a call. Each decision depends on
the text alone, never on how it arrived, so that a stream shows the same whatever its chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import regex
from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall

from tools.arguments import check_call
from tools.calls import RawCall
from tools.json_text import Unreadable, read_json
from tools.reading import new_call_id, with_calls
from tools.registry import ToolRegistry, UnknownTool
from tools.text_call_forms import (
    TextCall,
    block_calls,
    calls_in_json,
    calls_in_tag,
    cut_off_call,
    key_pattern,
)
from tools.validate import Validated

_TAG = regex.compile(
    r"<(?P<name>tool_calls?|function_calls?)(?:\s[^<>]{0,80})?>"
    r"|(?P<function><function=)"
    r"|(?P<stray></(?:tool_calls?|function_calls?|function)>|<\|(?:im_end|eot_id|eom_id)\|>)"
    r"|(?P<deepseek><｜tool▁calls?▁begin｜>)"
    r"|(?P<open_ended><\|(?:tool_call\|?|python_tag\|)>|\[TOOL_CALLS\])"
)
_FENCE = regex.compile(
    r"```[ \t]*(?:json5?|tool_calls?|tool_code|tool|xml|javascript)?[ \t]*\r?\n\s*(?=[\[{<])",
    regex.IGNORECASE,
)
_DEEPSEEK_END = "<｜tool▁calls▁end｜>"
_INSIDE_JSON = regex.compile(r"(?:[\"\]}0-9]\s*[:,]|[\[{]|(?:true|false|null)\s*,)\s*$")
_AFTER_CALL = " \t\r\n,;]}"
"""Swallowed after a call: what separates or wrongly closes it."""
_OPENERS = "<[{`"
_CONTEXT = 40
"""Characters before a brace that tell whether it stands inside other JSON."""

Judge = Callable[[list[TextCall]], bool]


def read_text_calls(message: AIMessage, registry: ToolRegistry, offered: Collection[str]) -> AIMessage | None:
    """`message` with the calls of its text as tool calls, and as content what stands beside them.

    None where the text holds no markup of a call. A call has to name an offered tool. Where the form leaves no
    doubt that it is meant as one, faulty arguments are kept, for the engine to refuse them like those of any
    call; otherwise they have to validate.
    """
    shown, calls = _read(message.text, registry, offered)
    if shown == message.text:
        return None
    readable: list[ToolCall] = []
    unreadable: list[InvalidToolCall] = []
    for call in calls:
        name, checked = _checked(call, registry, offered)
        if isinstance(checked, Validated):
            readable.append(ToolCall(name=name, args=checked.args, id=new_call_id(), type="tool_call"))
        elif call.args is not None:
            readable.append(ToolCall(name=name, args=dict(call.args), id=new_call_id(), type="tool_call"))
        else:
            unreadable.append(
                InvalidToolCall(
                    name=name, args=call.text, id=new_call_id(), error=None, type="invalid_tool_call"
                )
            )
    return with_calls(message, readable, unreadable, content=shown.strip())


def without_calls(text: str, registry: ToolRegistry, offered: Collection[str]) -> str:
    """What of `text` a customer may see."""
    return _read(text, registry, offered)[0]


class TextCallGuard:
    """Lets the text of a stream through, but for calls and for what may yet become one.

    guard = TextCallGuard(registry, offered)
    for delta in stream:
        show(guard.feed(delta))
    show(guard.flush())
    """

    def __init__(self, registry: ToolRegistry, offered: Collection[str]) -> None:
        self._scanner = _Scanner(_judge(registry, offered), offered)

    def feed(self, text: str) -> str:
        """What can be shown now."""
        return "".join(self._scanner.feed(text))

    def flush(self) -> str:
        """What was held back, when the text has ended."""
        return "".join(self._scanner.finish())


def _read(text: str, registry: ToolRegistry, offered: Collection[str]) -> tuple[str, list[TextCall]]:
    scanner = _Scanner(_judge(registry, offered), offered)
    shown = "".join([*scanner.feed(text), *scanner.finish()])
    return shown, [call for call in scanner.calls if _names_offered(call, registry, offered)]


def _judge(registry: ToolRegistry, offered: Collection[str]) -> Judge:
    def are_calls(calls: list[TextCall]) -> bool:
        return bool(calls) and all(_counts(call, registry, offered) for call in calls)

    return are_calls


def _counts(call: TextCall, registry: ToolRegistry, offered: Collection[str]) -> bool:
    if not _names_offered(call, registry, offered):
        return False
    return call.explicit or isinstance(_checked(call, registry, offered)[1], Validated)


def _names_offered(call: TextCall, registry: ToolRegistry, offered: Collection[str]) -> bool:
    return not isinstance(registry.resolve(call.name, offered), UnknownTool)


def _checked(call: TextCall, registry: ToolRegistry, offered: Collection[str]) -> tuple[str, Any]:
    """The tool's name as the protocol has it, and what becomes of the arguments."""
    spec = registry.resolve(call.name, offered)
    assert not isinstance(spec, UnknownTool), "only calls that name an offered tool come here"
    args = None if call.args is None else dict(call.args)
    return registry.protocol_name(spec.name), check_call(spec, RawCall("", call.name, args, call.text))


@dataclass(frozen=True)
class _Piece:
    """What stands at a position: text to be shown up to `end`, or calls (or bare markup) that end there."""

    end: int
    shown: bool
    calls: tuple[TextCall, ...] = ()


class _Scanner:
    def __init__(self, are_calls: Judge, offered: Collection[str]) -> None:
        self.calls: list[TextCall] = []
        self._are_calls = are_calls
        self._key = key_pattern(tuple(offered))
        self._held = ""
        self._before = ""
        self._after_call = False
        self._in_fence = False
        self._waits_for = ""

    def feed(self, text: str) -> Iterator[str]:
        self._held += text
        if self._waits_for and not any(mark in text for mark in self._waits_for):
            return
        yield from self._scan(final=False)

    def finish(self) -> Iterator[str]:
        yield from self._scan(final=True)

    def _scan(self, *, final: bool) -> Iterator[str]:
        self._waits_for = ""
        position = 0
        text = self._held
        while position < len(text):
            if self._after_call and text[position] in _AFTER_CALL:
                position += 1
                continue
            self._after_call = False
            piece = self._piece(text, position, final)
            if piece is None:
                break
            if piece.shown:
                yield text[position : piece.end]
            self.calls.extend(piece.calls)
            self._after_call = not piece.shown
            self._before = (self._before + text[position : piece.end])[-_CONTEXT:]
            position = piece.end
        self._held = text[position:]

    def _piece(self, text: str, position: int, final: bool) -> _Piece | None:
        """The piece at `position`; None while it is undecided."""
        character = text[position]
        if character not in _OPENERS:
            following = (text.find(opener, position) for opener in _OPENERS)
            return _Piece(min((at for at in following if at >= 0), default=len(text)), shown=True)
        if character in "<[" and (found := _TAG.match(text, position, partial=not final)):
            return None if found.partial else self._tag(text, found, final)
        if character == "`":
            return self._fence(text, position, final)
        if character in "[{":
            return self._json(text, position, final)
        return _Piece(position + 1, shown=True)

    def _tag(self, text: str, opener: Any, final: bool) -> _Piece | None:
        """Everything up to the closing tag is markup, a call or not."""
        if opener["stray"]:
            return _Piece(opener.end(), shown=False)
        start = opener.start() if opener["function"] else opener.end()
        closing = _closing(opener)
        at = text.find(closing, start) if closing else -1
        if at < 0 and not final:
            self._waits_for = closing[-1:] or "\0"
            return None
        end = len(text) if at < 0 else at + len(closing)
        content = text[start : len(text) if at < 0 else at]
        return _Piece(end, shown=False, calls=tuple(calls_in_tag(content)))

    def _fence(self, text: str, position: int, final: bool) -> _Piece | None:
        if not text.startswith("```", position):
            undecided = not final and "```".startswith(text[position:])
            return None if undecided else _Piece(position + 1, shown=True)
        if self._in_fence:
            self._in_fence = False
            return _Piece(position + 3, shown=True)
        opener = _FENCE.match(text, position, partial=not final)
        if opener and opener.partial:
            return None
        start = opener.end() if opener else 0
        key = self._key.match(text, start, partial=not final) if opener else None
        if key and key.partial:
            return None
        if not opener or not (key or text[start] == "<"):
            self._in_fence = True
            return _Piece(position + 3, shown=True)
        at = text.find("```", start)
        if at < 0 and not final:
            self._waits_for = "`"
            return None
        calls = block_calls(text[start : len(text) if at < 0 else at])
        end = len(text) if at < 0 else at + 3
        return self._judged(calls, end)

    def _json(self, text: str, position: int, final: bool) -> _Piece | None:
        nested = _INSIDE_JSON.search(self._before)
        key = None if nested else self._key.match(text, position, partial=not final)
        if key is None:
            return _Piece(position + 1, shown=True)
        if key.partial:
            return None
        end = _balanced_end(text, position)
        if end is None:
            if not final:
                self._waits_for = "}]"
                return None
            return self._judged(cut_off_call(text[position:]), len(text))
        try:
            calls = calls_in_json(read_json(text[position:end]).value)
        except Unreadable:
            calls = []
        return self._judged(calls, end)

    def _judged(self, calls: list[TextCall], end: int) -> _Piece:
        if self._are_calls(calls):
            return _Piece(end, shown=False, calls=tuple(calls))
        return _Piece(end, shown=True)


def _closing(opener: Any) -> str:
    if opener["name"]:
        return f"</{opener['name']}>"
    if opener["function"]:
        return "</function>"
    return _DEEPSEEK_END if opener["deepseek"] else ""


def _balanced_end(text: str, position: int) -> int | None:
    """Where the bracket at `position` is closed again; None while it is open."""
    depth = 0
    in_string = escaped = False
    for at in range(position, len(text)):
        character = text[at]
        if in_string:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                in_string = False
        elif character == '"':
            in_string = True
        elif character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if depth <= 0:
                return at + 1
    return None
