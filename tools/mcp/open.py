"""From the setting to open sessions. The SDK is optional and slow to import: only a business with servers loads it."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import ConfigurationError
from tools.mcp.config import ServerConfig, check_intents, read_servers
from tools.registry import ToolRegistry

if TYPE_CHECKING:
    from tools.mcp.servers import Examined


@asynccontextmanager
async def open_servers(
    file: Path | None, intents: Collection[str], registry: ToolRegistry
) -> AsyncIterator[None]:
    """Sessions with the servers that `file` names (None: there are none); their tools join `registry`.

    `intents` are those of the business. Raises ConfigurationError for a wrong file; a server that cannot be
    reached is no error.
    """
    if file is None:
        yield
        return
    servers = await asyncio.to_thread(_ready, file, intents)
    from tools.mcp.servers import connected

    async with connected(servers, registry):
        yield


async def examine_servers(file: Path, intents: Collection[str]) -> list[Examined]:
    """What each server that `file` names answers when it is asked for its tools. Raises ConfigurationError."""
    servers = await asyncio.to_thread(_ready, file, intents)
    from tools.mcp.servers import examine

    return await examine(servers)


def _ready(file: Path, intents: Collection[str]) -> dict[str, ServerConfig]:
    """The servers of the file, with the SDK loaded; both block, so this runs in a thread."""
    servers = read_servers(file)
    check_intents(file, servers, intents)
    try:
        importlib.import_module("tools.mcp.servers")
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"STEWARD_MCP needs the package {error.name!r}. Install steward[mcp], or unset STEWARD_MCP."
        ) from error
    return servers
