"""Which tools a server has: asked when a session opens, and again whenever the server says that they have changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import structlog
from mcp import Client, MCPError
from mcp.client.session import IncomingMessage
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.types import Tool, ToolListChangedNotification

MOST_PAGES: Final = 100
PAUSE: Final = 1.0
"""Seconds before a stream of changes that broke off is opened again, and between two listings."""

log = structlog.get_logger(__name__)


async def list_tools(client: Client) -> list[Tool]:
    """All tools of a server, page by page."""
    tools: list[Tool] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if not cursor:
            break
    return tools


class Changes:
    """What a server says of its list of tools, in the way of its protocol version."""

    def __init__(self) -> None:
        self._heard = asyncio.Event()

    async def hear(self, message: IncomingMessage) -> None:
        """For the session: servers from before 2026 send a notification."""
        if isinstance(message, ToolListChangedNotification):
            self._heard.set()

    async def follow(self, client: Client, on_listed: Callable[[Sequence[Tool]], None]) -> None:
        """List the tools again after each change, until cancelled. A listing that fails leaves those there are."""
        listening = asyncio.create_task(self._listen(client), name="mcp changes")
        try:
            while True:
                await self._heard.wait()
                self._heard.clear()
                try:
                    on_listed(await list_tools(client))
                except MCPError as error:
                    log.warning("MCP tools not listed again", code=error.code)
                await asyncio.sleep(PAUSE)
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    async def _listen(self, client: Client) -> None:
        """Servers from 2026 on have to be asked to tell; one that tells nothing is left alone."""
        with suppress(ListenNotSupportedError, MCPError, TimeoutError):
            while True:
                try:
                    async with client.listen(tools_list_changed=True) as changes:
                        async for _ in changes:
                            self._heard.set()
                    return
                except SubscriptionLost:
                    await asyncio.sleep(PAUSE)
                    self._heard.set()  # what changed in between went unheard
