"""The SDK's two transports, told to say what they know: that the process is gone, that a request never left.

Over HTTP the SDK ends the whole session when one request cannot be sent, and every call under way with it. Here
such a request is answered in the server's place, with a code that says whether it can have taken effect.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Any, Final, Self

import httpx2
from mcp import StdioServerParameters
from mcp.client._transport import ReadStream, TransportStreams
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from tools.mcp.config import ServerConfig

NOT_SENT: Final = -32801
"""Codes of our own, outside those that JSON-RPC and MCP give a meaning."""
LOST: Final = -32802
REFUSED: Final = -32803
CONNECT_SECONDS: Final = 10.0
READ_SECONDS: Final = 300.0
"""Of silence on an open answer; a call's own limit is the engine's."""
_TURNED_AWAY: Final = frozenset({429, 503})
_BROKEN: Final = frozenset({502, 504})
_CREDENTIALS: Final = frozenset({401, 403})
_NEVER_SENT: Final = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)

Incoming = SessionMessage | Exception


def transport_of(
    server: ServerConfig, on_end: Callable[[], None]
) -> AbstractAsyncContextManager[TransportStreams]:
    """A transport for one session. `on_end` is called when the other side has closed it."""
    return _process(server, on_end) if server.command else _http(server, on_end)


@asynccontextmanager
async def _process(server: ServerConfig, on_end: Callable[[], None]) -> AsyncIterator[TransportStreams]:
    """What the process writes to standard error is dropped: it may hold what its environment holds."""
    parameters = StdioServerParameters(
        command=server.command or "",
        args=list(server.args),
        env=server.env,
        cwd=server.cwd,
        encoding_error_handler="replace",
    )
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: ASYNC230
        async with stdio_client(parameters, errlog=nowhere) as (read, write):
            yield _Watched(read, on_end), write


@asynccontextmanager
async def _http(server: ServerConfig, on_end: Callable[[], None]) -> AsyncIterator[TransportStreams]:
    client = await asyncio.to_thread(_http_client, server)
    async with client, streamable_http_client(server.url or "", http_client=client) as (read, write):
        yield _Watched(read, on_end), write


def _http_client(server: ServerConfig) -> httpx2.AsyncClient:
    """Blocks: it reads the certificates that it trusts."""
    return httpx2.AsyncClient(
        headers=server.headers,
        timeout=httpx2.Timeout(CONNECT_SECONDS, read=READ_SECONDS),
        transport=_Honest(httpx2.AsyncHTTPTransport()),
    )


class _Watched:
    """A read stream that says when it has ended."""

    def __init__(self, stream: ReadStream[Incoming], on_end: Callable[[], None]) -> None:
        self._stream = stream
        self._on_end = on_end

    @property
    def last_context(self) -> Any:
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Incoming:
        return await self._stream.receive()

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Incoming:
        try:
            return await self._stream.__anext__()
        except StopAsyncIteration:
            self._on_end()
            raise

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, error, trace)


class _Honest(httpx2.AsyncBaseTransport):
    """Turns failures of one request into a JSON-RPC error of that request."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await self._inner.handle_async_request(request)
        except _NEVER_SENT as error:
            return _instead(NOT_SENT, f"cannot be reached ({type(error).__name__})")
        except httpx2.TransportError as error:
            return _instead(LOST, f"the connection broke ({type(error).__name__})")
        code = _code(response.status_code)
        if code is None:
            return response
        await response.aclose()
        return _instead(code, f"answers with HTTP {response.status_code}")

    async def aclose(self) -> None:
        await self._inner.aclose()


def _code(status: int) -> int | None:
    if status in _TURNED_AWAY:
        return NOT_SENT
    if status in _BROKEN:
        return LOST
    return REFUSED if status in _CREDENTIALS else None


def _instead(code: int, message: str) -> httpx2.Response:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    return httpx2.Response(500, json=error)
