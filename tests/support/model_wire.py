"""The chat-completions protocol on the wire: what a strict provider refuses, and how replies are written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from tests.support.model_replies import Call, Reply, Request, Usage

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SETTINGS = {"temperature", "top_p", "max_tokens", "max_completion_tokens", "n", "stop", "seed", "stream"}
_FIELDS = _SETTINGS | {"messages", "model", "user", "stream_options", "response_format"}
_FIELDS |= {"tools", "tool_choice", "parallel_tool_calls"}
"""Of the protocol's request, those that there is any reason to send."""


def protocol_fault(request: Request) -> str | None:
    """What a strict provider would refuse in a request, in its words; None where all is well."""
    if unknown := request.keys() - _FIELDS:
        return f"Unrecognized request arguments supplied: {', '.join(sorted(unknown))}"
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        return "'messages' must be a non-empty array"
    for tool in request.get("tools") or ():
        if not _NAME.fullmatch(tool["function"]["name"]):
            return f"Invalid tool name {tool['function']['name']!r}"
    return _pairing_fault(messages)


def _pairing_fault(messages: list[dict[str, Any]]) -> str | None:
    waiting: list[str] = []
    for position, message in enumerate(messages):
        if message["role"] == "tool":
            if message.get("tool_call_id") not in waiting:
                return f"messages[{position}]: role 'tool' must follow a message with 'tool_calls'"
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            return f"messages[{position}]: tool_call_ids without a response: {', '.join(waiting)}"
        calls = message.get("tool_calls") or []
        waiting = [call["id"] for call in calls]
        if len(set(waiting)) != len(waiting):
            return f"messages[{position}]: duplicate tool call ids"
        for call in calls:
            if fault := _arguments_fault(call["function"]["arguments"]):
                return f"messages[{position}]: {fault}"
        if message["role"] == "assistant" and not calls and not message.get("content"):
            return f"messages[{position}]: assistant message with neither content nor tool calls"
    return f"tool_call_ids without a response: {', '.join(waiting)}" if waiting else None


def _arguments_fault(text: object) -> str | None:
    try:
        parsed = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        parsed = None
    return None if isinstance(parsed, dict) else "tool call arguments must be the text of a JSON object"


def counted(request: Request, reply: Reply) -> Usage | None:
    """The usage that goes out with a reply."""
    if reply.usage is None or isinstance(reply.usage, Usage):
        return reply.usage
    prompt = len(json.dumps([request["messages"], request.get("tools")], ensure_ascii=False)) // 4
    written = len(json.dumps([reply.text, [call.argument_text for call in reply.calls]], ensure_ascii=False))
    return Usage(prompt=max(1, prompt), completion=max(1, written // 4))


def whole(request: Request, reply: Reply) -> dict[str, Any]:
    """The body of a plain answer."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    if reply.calls:
        message["tool_calls"] = [_call(call) for call in reply.calls]
    body = _head(request, "chat.completion")
    body["choices"] = [{"index": 0, "message": message, "finish_reason": _finish(reply)}]
    if usage := counted(request, reply):
        body["usage"] = usage.on_the_wire()
    return body


def chunks(request: Request, reply: Reply) -> Iterator[dict[str, Any]]:
    """The chunks of a streamed answer."""
    head = _head(request, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in _cut(reply.reasoning):
        yield chunk({"reasoning_content": piece})
    for content in _content_pieces(reply):
        yield chunk({"content": content})
    for piece in _cut(reply.refusal):
        yield chunk({"refusal": piece})
    for position, call in enumerate(reply.calls):
        index = 0 if reply.same_index else position
        start = _call(call) | {"index": index}
        start["function"] = {"name": call.name, "arguments": "" if call.argument_text else call.argument_text}
        yield chunk({"tool_calls": [start]})
        for piece in _cut(call.argument_text):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    if _finish(reply) is not None:
        yield chunk({}, _finish(reply))
    usage = counted(request, reply)
    if usage and (request.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": usage.on_the_wire()}


def _content_pieces(reply: Reply) -> Iterator[str | list[dict[str, Any]]]:
    if isinstance(reply.text, list):
        yield from ([block] for block in reply.text)
    else:
        yield from reply.pieces if reply.pieces is not None else _cut(reply.text)


def _head(request: Request, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{uuid4().hex}", "object": kind, "created": 1, "model": request["model"]}


def _finish(reply: Reply) -> str | None:
    return ("tool_calls" if reply.calls else "stop") if reply.finish_reason == "auto" else reply.finish_reason


def _call(call: Call) -> dict[str, Any]:
    wire: dict[str, Any] = {
        "type": "function",
        "function": {"name": call.name, "arguments": call.argument_text},
    }
    if call.id is not None:
        wire["id"] = f"call_{uuid4().hex[:16]}" if call.id == "auto" else call.id
    return wire


def _cut(text: str | None) -> Iterator[str]:
    for start in range(0, len(text or ""), 5):
        yield (text or "")[start : start + 5]
