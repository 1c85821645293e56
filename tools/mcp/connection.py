"""One server's session: opened in a task of its own, kept, and opened again when it is lost.

The SDK's session has to be closed by the task that opened it; calls come from anywhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, Final

import structlog
from mcp import Client, MCPError
from mcp.types import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    CallToolResult,
    Implementation,
    Tool,
)

from memory.masking import mask
from tools.errors import BusinessError, TransientError
from tools.mcp.config import ServerConfig
from tools.mcp.listing import Changes, list_tools
from tools.mcp.transport import LOST, NOT_SENT, REFUSED, transport_of

OPEN_SECONDS: Final = 20.0
"""A process may have to be loaded first."""
FIRST_PAUSE: Final = 1.0
"""Seconds between two attempts to open; doubles with each, and a call cuts it short."""
LONGEST_PAUSE: Final = 60.0
STEADY_SECONDS: Final = 60.0
"""A session that lasted so long was a good one; its end is answered with a new one at once."""

log = structlog.get_logger(__name__)


class _SessionGone(TransientError):
    """The server no longer knows the session, so it has not looked at the call."""


class Connection:
    """A server's session. `on_listed` is given its tools when one is opened, and when they have changed."""

    def __init__(self, name: str, server: ServerConfig, on_listed: Callable[[Sequence[Tool]], None]) -> None:
        self.name = name
        self.fault: str | None = None
        """Why there is no session; None while there is one, or before the first attempt has ended."""
        self._server = server
        self._on_listed = on_listed
        self._client: Client | None = None
        self._over = asyncio.Event()
        self._wanted = asyncio.Event()
        self._changes = Changes()
        self._attempt: asyncio.Future[Client | None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._keep(), name=f"mcp {name}")

    async def attempted(self) -> None:
        """Return when the attempt under way, or the next one, has ended; at once where there is a session."""
        if self._client is None:
            await asyncio.shield(self._attempt)

    async def call(self, tool: str, args: Mapping[str, Any], meta: Mapping[str, Any]) -> CallToolResult:
        """One call. Raises TransientError where it is certain that the server has not looked at it,
        BusinessError where it refuses the call, ConnectionError where nobody can tell.
        """
        try:
            return await self._call(tool, args, meta)
        except _SessionGone:
            return await self._call(tool, args, meta)

    async def close(self) -> None:
        """End the session and the server's process."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _call(self, tool: str, args: Mapping[str, Any], meta: Mapping[str, Any]) -> CallToolResult:
        client = self._client or await self._wait_for_session()
        try:
            return await client.call_tool(tool, dict(args), meta=dict(meta) if meta else None)  # type: ignore[arg-type]
        except MCPError as error:
            raise self._meaning(error) from error

    async def _wait_for_session(self) -> Client:
        self._wanted.set()
        client = await asyncio.shield(self._attempt)
        if client is None:
            raise TransientError(f"MCP server {self.name}: {self.fault}")
        return client

    def _meaning(self, error: MCPError) -> Exception:
        if error.code in (NOT_SENT, REFUSED):
            return TransientError(f"MCP server {self.name} {error.message}")
        if error.code in (LOST, CONNECTION_CLOSED):
            return ConnectionError(f"MCP server {self.name}: the connection was lost during a call")
        if error.code == INVALID_REQUEST and "session" in error.message.lower():
            self._over.set()
            self._client = None
            return _SessionGone(f"MCP server {self.name} no longer knows the session")
        if error.code in (INVALID_PARAMS, METHOD_NOT_FOUND):
            return BusinessError(f"The server refuses the call: {error.message[:500]}")
        return error

    async def _keep(self) -> None:
        clock = asyncio.get_running_loop().time
        pause = 0.0
        try:
            while True:
                began = clock()
                await self._one_session()
                steady = clock() - began > STEADY_SECONDS
                pause = 0.0 if steady else min(max(pause * 2, FIRST_PAUSE), LONGEST_PAUSE)
                await self._pause(pause)
        finally:
            self._settle(None)

    async def _one_session(self) -> None:
        """Open a session and stay until it is over."""
        self._over.clear()
        self._wanted.clear()
        was_open = False
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(OPEN_SECONDS):
                    client = await stack.enter_async_context(self._new_client())
                    tools = await list_tools(client)
                self._opened(client, tools)
                was_open = True
                following = asyncio.create_task(self._changes.follow(client, self._on_listed))
                stack.push_async_callback(_ended, following)
                await self._over.wait()
                self._client = None
        except Exception as error:
            if not was_open:
                self._failed(error)
        finally:
            self._client = None
        if was_open:
            self.fault = "the session was lost"
            log.warning("MCP session lost", server=self.name)

    def _new_client(self) -> Client:
        return Client(
            transport_of(self._server, self._over.set),
            cache=None,
            message_handler=self._changes.hear,
            client_info=Implementation(name="steward", version="1"),
        )

    def _opened(self, client: Client, tools: Sequence[Tool]) -> None:
        self.fault = None
        self._on_listed(tools)
        self._client = client
        self._settle(client)
        log.info("MCP session opened", server=self.name, tools=len(tools))

    def _failed(self, error: Exception) -> None:
        """Warns of the first failure of a row."""
        fault = reason(error)
        if fault != self.fault:
            log.warning("MCP server not available", server=self.name, fault=fault)
        self.fault = fault
        self._settle(None)

    def _settle(self, client: Client | None) -> None:
        """Tell who waits how the attempt ended; later callers wait for the next one."""
        attempt, self._attempt = self._attempt, asyncio.get_running_loop().create_future()
        if not attempt.done():
            attempt.set_result(client)

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._wanted.wait()
        except TimeoutError:
            return


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def reason(error: BaseException) -> str:
    """Why a session could not be opened, without addresses, arguments or headers."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return f"no answer within {OPEN_SECONDS:.0f} s"
    if isinstance(error, FileNotFoundError):
        return "its command was not found"
    if isinstance(error, MCPError):
        if error.code == CONNECTION_CLOSED:
            return "it ended before it had answered"
        return mask(error.message[:200])
    return type(error).__name__
