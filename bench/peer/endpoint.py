"""A chat-completions endpoint that answers at once, in a process of its own, so that its work is not the agents'.

    with Endpoint() as endpoint:
        endpoint.url

The model's name says which role asks. The chat model calls the one tool where the customer's latest message names an
order, and answers once a result is there.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

ROLES = ("chat", "router", "reviewer", "extractor", "summariser", "compactor")
TOOL = "order_query"
ANSWER = (
    "Your parcel has left the transit centre in Shanghai and arrives the day after tomorrow, before noon."
)
_ORDER = re.compile(r"[A-Z]{3}-\d{8}-\d{3}")
_PIECE = 8
"""Characters of a streamed chunk."""

Json = dict[str, Any]


class Endpoint:
    """The endpoint as its user sees it."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.peer.endpoint"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().decode().strip()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()  # closes its standard input, which ends it

    def settings(self) -> dict[str, str]:
        """Settings that send every role here, each under a model named after the role."""
        models = {f"steward_{role}_model": role for role in ROLES}
        return {"openai_base_url": self.url, "openai_api_key": "bench", **models}


def reply(request: Json) -> Json:
    """The message that answers a request."""
    role = request["model"]
    if role == "router":
        return _forced(request, {"intents": [{"name": "logistics", "confidence": 0.95}]})
    if role == "extractor":
        return _forced(request, {"memories": []})
    if role == "summariser":
        return _forced(request, {"summary": "The customer asks where parcels are.", "key_facts": {}})
    last = request["messages"][-1]
    orders = _ORDER.findall(last["content"]) if last["role"] == "user" else []
    if orders and request.get("tools"):
        return _calling(TOOL, {"order_id": orders[-1]})
    return {"role": "assistant", "content": ANSWER}


def _forced(request: Json, answer: Json) -> Json:
    choice = request.get("tool_choice")
    if isinstance(choice, dict):
        return _calling(choice["function"]["name"], answer)
    return {"role": "assistant", "content": json.dumps(answer)}


_calls = iter(range(1, sys.maxsize))


def _calling(name: str, arguments: Json) -> Json:
    call = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": f"call_{next(_calls)}", "type": "function", "function": call}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def answer(body: bytes) -> bytes:
    """The whole HTTP response to a request's body."""
    request = json.loads(body)
    message = reply(request)
    usage = {"prompt_tokens": len(body) // 4, "completion_tokens": 30, "total_tokens": len(body) // 4 + 30}
    head = {"id": "chatcmpl-1", "created": 1, "model": request["model"]}
    if request.get("stream"):
        events = [*_chunks(head, message), {**head, "object": _CHUNK, "choices": [], "usage": usage}]
        text = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        return _response(text.encode(), "text/event-stream")
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, "message": message, "finish_reason": finish}
    whole = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
    return _response(json.dumps(whole).encode(), "application/json")


_CHUNK = "chat.completion.chunk"


def _chunks(head: Json, message: Json) -> Iterator[Json]:
    def chunk(delta: Json, finish: str | None = None) -> Json:
        return {**head, "object": _CHUNK, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    text = message["content"] or ""
    for start in range(0, len(text), _PIECE):
        yield chunk({"content": text[start : start + _PIECE]})
    if calls := message.get("tool_calls"):
        yield chunk({"tool_calls": [{**calls[0], "index": 0}]})
    yield chunk({}, "tool_calls" if message.get("tool_calls") else "stop")


def _response(body: bytes, kind: str) -> bytes:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


class _Connection(asyncio.Protocol):
    """As much of HTTP/1.1 as one well-behaved client needs: requests with a length, one after the other."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._received = b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        if not found:
            return
        length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
        wanted = int(length[1]) if length else 0
        if len(body) >= wanted:
            self._received = body[wanted:]
            self._transport.write(answer(body[:wanted]))


async def serve() -> None:
    """Until standard input ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_Connection, "127.0.0.1", 0)
    async with server:
        print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve())
