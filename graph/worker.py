"""The memory worker of a business: its queue, with the roles that read and fold conversations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from graph.personal_data import OUTDATED
from memory.settings import MemorySettings
from memory.worker import Worker
from nodes.extract import make_extractor
from nodes.run import Services
from nodes.summarise import make_summariser


def make_worker(services: Services) -> Worker:
    """A worker on the services of this event loop; `run()` it beside the agent, or `drain()` what is due."""
    extractor = make_extractor(services.models, services.business, services.usage)
    summariser = make_summariser(services.models, services.usage)
    return Worker(
        services.database, services.embedder, extractor, summariser, services.settings, outdated=OUTDATED
    )


@asynccontextmanager
async def beside(worker: Worker, settings: MemorySettings) -> AsyncIterator[None]:
    """The worker runs beside an agent in this process, unless another process does its work."""
    if settings.steward_worker == "external":
        yield
        return
    task = asyncio.create_task(worker.run(), name="steward memory worker")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
