"""All servers of an event loop: their sessions, and the registry that their tools join."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from mcp.types import Tool

from tools.mcp.config import ServerConfig
from tools.mcp.connection import OPEN_SECONDS, Connection
from tools.mcp.specs import tool_specs
from tools.registry import ToolRegistry

WAIT_SECONDS: Final = 3.0
"""How long an opening waits for servers, so that the first turn has their tools; slower ones join later."""


@asynccontextmanager
async def connected(
    servers: Mapping[str, ServerConfig], registry: ToolRegistry, *, wait_seconds: float = WAIT_SECONDS
) -> AsyncIterator[list[Connection]]:
    """Sessions with all servers, closed at the end. A server that is down costs its tools and nothing else: it is
    tried again, and its tools join the registry when it is there."""
    connections = [_connect(name, server, registry) for name, server in servers.items()]
    try:
        attempts = [asyncio.create_task(each.attempted()) for each in connections]
        if attempts:
            _, pending = await asyncio.wait(attempts, timeout=wait_seconds)
            for task in pending:
                task.cancel()
        yield connections
    finally:
        await asyncio.gather(*(each.close() for each in connections))


@dataclass(frozen=True)
class Examined:
    """What a server answered when it was asked for its tools."""

    name: str
    tools: int
    """Of those that the file asks for."""
    left_out: int
    fault: str | None


async def examine(servers: Mapping[str, ServerConfig]) -> list[Examined]:
    """Ask each server for its tools."""
    registry = ToolRegistry(())
    listed: dict[str, Sequence[Tool]] = {}
    connections = [_connect(name, server, registry, listed) for name, server in servers.items()]
    try:
        await asyncio.gather(*(_bounded(each) for each in connections))
        return [_examined(each, servers[each.name], registry, listed) for each in connections]
    finally:
        await asyncio.gather(*(each.close() for each in connections))


async def _bounded(connection: Connection) -> None:
    async with asyncio.timeout(OPEN_SECONDS + 5):
        await connection.attempted()


def _examined(
    connection: Connection,
    server: ServerConfig,
    registry: ToolRegistry,
    listed: Mapping[str, Sequence[Tool]],
) -> Examined:
    name = connection.name
    wanted = [tool for tool in listed.get(name, ()) if server.takes(tool.name)]
    taken = len(registry.brought_by(name))
    return Examined(name, taken, len(wanted) - taken, connection.fault)


def _connect(
    name: str,
    server: ServerConfig,
    registry: ToolRegistry,
    listed: dict[str, Sequence[Tool]] | None = None,
) -> Connection:
    def join(tools: Sequence[Tool]) -> None:
        if listed is not None:
            listed[name] = tools
        registry.bring(name, tool_specs(name, server, tools, connection.call))

    connection = Connection(name, server, join)
    return connection
