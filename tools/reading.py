"""From the model's message to its tool calls: every call readable or marked so, every id its own.

A message is normalised once, when it arrives: `tool_calls` hold those whose arguments are an object,
`invalid_tool_calls` the others with their text as the model wrote it. Both stay in the thread, and `raw_calls`
reads them from there. An argument text that was cut off is never taken for the object it began.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, AIMessageChunk, InvalidToolCall, ToolCall

from memory.clean import LARGEST_INTEGER, clean_text
from tools.arguments import check_call
from tools.calls import RawCall
from tools.envelope import dump
from tools.json_text import CUT_OFF, TOO_DEEP, Unreadable, too_deep
from tools.names import protocol_name
from tools.registry import ToolRegistry, UnknownTool
from tools.repair import plain_object
from tools.spec import Arguments
from tools.validate import Validated

NO_NAME = "unknown"


def read_calls(
    message: AIMessage,
    known_ids: Collection[str],
    registry: ToolRegistry | None = None,
    offered: Collection[str] = (),
) -> AIMessage:
    """The message as a plain AIMessage whose calls can be run, stored, and sent to any provider again.

    Ids are made unique within the message and against `known_ids` (of the thread); a missing one is made. With
    the registry and the names of the tools on offer, decorated names are put right, and an argument text that
    can be repaired with certainty is, where the result fits the tool's schema.
    """
    taken = set(known_ids)
    calls: list[ToolCall] = []
    unreadable: list[InvalidToolCall] = []
    for call in _written(message):
        call_id = _unique(call.id, taken)
        taken.add(call_id)
        name, args = call.name, call.args
        if registry is not None:
            name, args = _fitted(call, registry, offered)
        if args is not None:
            calls.append(ToolCall(name=name or NO_NAME, args=args, id=call_id, type="tool_call"))
        else:
            unreadable.append(
                InvalidToolCall(
                    name=name or NO_NAME,
                    args=call.text,
                    id=call_id,
                    error=call.error,
                    type="invalid_tool_call",
                )
            )
    return with_calls(message, calls, unreadable)


def raw_calls(message: AIMessage) -> list[RawCall]:
    """The calls of a normalised message."""
    readable = [RawCall(call["id"] or "", call["name"], call["args"]) for call in message.tool_calls]
    return readable + [
        RawCall(call["id"] or "", call["name"] or NO_NAME, None, call["args"] or "", call["error"])
        for call in message.invalid_tool_calls
    ]


def with_calls(
    message: AIMessage,
    calls: list[ToolCall],
    unreadable: list[InvalidToolCall],
    content: str | list[str | dict[Any, Any]] | None = None,
) -> AIMessage:
    """A plain AIMessage like `message`, with these calls and no other copy of them."""
    extra = {key: value for key, value in message.additional_kwargs.items() if key != "tool_calls"}
    return AIMessage(
        content=message.content if content is None else content,
        tool_calls=calls,
        invalid_tool_calls=unreadable,
        id=message.id,
        name=message.name,
        additional_kwargs=extra,
        response_metadata=message.response_metadata,
        usage_metadata=message.usage_metadata,
    )


def new_call_id() -> str:
    return f"call_{uuid4().hex[:24]}"


def _written(message: AIMessage) -> Iterator[RawCall]:
    """The calls as they came. LangChain completes a cut text in `tool_calls` of a chunk: its pieces are read."""
    cut = message.response_metadata.get("finish_reason") == "length"
    if isinstance(message, AIMessageChunk) and message.tool_call_chunks:
        for piece in message.tool_call_chunks:
            yield _from_text(piece.get("id"), piece.get("name"), piece.get("args"), cut)
        return
    for call in message.tool_calls:
        if too_deep(call["args"]):
            yield RawCall(call["id"] or "", call["name"], None, "", TOO_DEEP)
        elif not _is_json(call["args"]):
            yield RawCall(
                call["id"] or "", call["name"], None, "", "a number in it is too large, or none at all"
            )
        else:
            yield RawCall(call["id"] or "", call["name"], _clean(call["args"]))
    for broken in message.invalid_tool_calls:
        yield _from_text(broken.get("id"), broken.get("name"), broken.get("args"), cut)


def _from_text(call_id: str | None, name: str | None, text: str | None, cut: bool) -> RawCall:
    if cut and not (text or "").strip():
        return RawCall(call_id or "", name or "", None, "", CUT_OFF)
    try:
        args = _clean(plain_object(text))
    except Unreadable as fault:
        return RawCall(call_id or "", name or "", None, clean_text(text or ""), str(fault))
    return RawCall(call_id or "", name or "", args)


def _fitted(call: RawCall, registry: ToolRegistry, offered: Collection[str]) -> tuple[str, Arguments | None]:
    """Name and arguments as the tool that is meant takes them."""
    spec = registry.resolve(call.name, offered)
    if isinstance(spec, UnknownTool):
        return protocol_name(call.name) if call.name.strip() else NO_NAME, call.args
    args = call.args
    if args is None and call.text and isinstance(checked := check_call(spec, call), Validated):
        args = _clean(checked.args)
    return registry.protocol_name(spec.name), args


def _is_json(args: Any) -> bool:
    """False for infinities and NaN, which a lenient client lets through and a provider refuses in the history."""
    try:
        dump(args)
    except ValueError:
        return False
    return True


def _unique(call_id: str, taken: Collection[str]) -> str:
    return call_id if call_id.strip() and call_id not in taken else new_call_id()


def _clean(value: Any) -> Any:
    """As every store takes it: no NUL or halves of characters in texts, and a number beyond 64 bits as its digits."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        return str(value)
    if isinstance(value, Mapping):
        return {clean_text(key): _clean(each) for key, each in value.items()}
    return [_clean(each) for each in value] if isinstance(value, list) else value
