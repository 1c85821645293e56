"""What the LangGraph server takes from us beside the graph: the checkpointer, and routes of our own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette

from graph.agent import GRAPH_ID, holder
from graph.logs import mask_logs_of_server
from graph.server.console import page
from graph.server.console import routes as console
from graph.server.known_threads import list_known_threads
from graph.server.routes import conversations, health, memories, spending
from graph.server.routes.answers import EXCEPTION_HANDLERS
from graph.telemetry import export_telemetry
from graph.worker import beside, make_worker
from memory.checkpoints import CheckpointSaver, make_checkpointer
from memory.encryption_health import require_key
from tools.ledger import COPY


@asynccontextmanager
async def checkpointer() -> AsyncIterator[CheckpointSaver]:
    """Named by `checkpointer` in langgraph.json: threads of the server are those of all other ways of use."""
    services = await holder.services()
    await require_key(services.database, services.settings)
    saver = make_checkpointer(services.database, services.settings, copied=[COPY])
    try:
        yield saver
    finally:
        await saver.flush()
        await holder.close()


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncIterator[None]:
    """Opens what the first request would wait for, and runs the memory worker beside the server."""
    mask_logs_of_server()
    # In a thread: loading the SDK reads files.
    await asyncio.to_thread(export_telemetry)
    services = await holder.services()
    await list_known_threads(services, GRAPH_ID)
    async with beside(make_worker(services), services.settings):
        yield


ROUTES = [
    *health.ROUTES,
    *memories.ROUTES,
    *spending.ROUTES,
    *conversations.ROUTES,
    *page.ROUTES,
    *console.ROUTES,
]

app = Starlette(routes=ROUTES, lifespan=lifespan, exception_handlers=EXCEPTION_HANDLERS)
"""Named by `http.app` in langgraph.json."""
