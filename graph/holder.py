"""One lazy holder of connections and clients per event loop, keyed by settings and business (G4).

The compiled graph is shared by every loop that runs it (the dev server's, an embedding service's, a test's); what
it works with is opened at the first use in a loop, never at import, and closed with the loop's last user.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from weakref import WeakKeyDictionary

import graph
import memory
import nodes
import tools
from graph.offline.unruled import with_offline_model
from graph.settings import Settings
from memory.business_state import BusinessState
from memory.database import Database, open_database
from memory.embeddings import make_embedder
from memory.errors import ConfigurationError
from memory.keywords import segmenter
from memory.knowledge import KnowledgeBase, read_documents
from memory.leases import ThreadLeases
from memory.migrate import migrate
from memory.queue import MemoryQueue
from memory.queue_depth import watch_queue
from memory.reembed import check_embedding_model
from nodes.business import Business
from nodes.classifier import LocalRouter, can_be_trained
from nodes.classifier_store import ClassifierStore
from nodes.compact import make_compactor
from nodes.models import Models
from nodes.run import Services
from nodes.usage import UsageLedger
from nodes.versions import served
from tools.engine import ToolEngine
from tools.mcp.open import open_servers
from tools.registry import ToolRegistry


class Holder:
    """Opens the services of a business once in each event loop that asks for them."""

    def __init__(self, settings: Settings, business: Business) -> None:
        self.settings = settings
        self.business = business
        self._open: WeakKeyDictionary[
            asyncio.AbstractEventLoop, asyncio.Task[tuple[Services, AsyncExitStack]]
        ]
        self._open = WeakKeyDictionary()

    async def services(self) -> Services:
        """The services of the running loop; the first caller opens them, others wait for it."""
        loop = asyncio.get_running_loop()
        task = self._open.get(loop)
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            task = self._open[loop] = loop.create_task(self._start())
        services, _ = await asyncio.shield(task)
        return services

    async def close(self) -> None:
        """Close what this loop has opened; harmless when nothing is open."""
        task = self._open.pop(asyncio.get_running_loop(), None)
        if task is not None:
            _, stack = await task
            await stack.aclose()

    async def _start(self) -> tuple[Services, AsyncExitStack]:
        async with AsyncExitStack() as stack:
            services = await stack.enter_async_context(open_services(self.settings, self.business))
            intents = [intent.name for intent in self.business.intents]
            registry = services.engine.registry
            await stack.enter_async_context(open_servers(self.settings.steward_mcp, intents, registry))
            return services, stack.pop_all()


@asynccontextmanager
async def open_services(settings: Settings, business: Business) -> AsyncIterator[Services]:
    """Database (migrated), documents, embedder, models and tool engine of a business, closed at the end.

    What takes long to load (embedder, classifier, the client of the endpoint) loads behind this.
    """
    business = with_offline_model(business)
    async with open_database(settings, business.name, claim=True) as database:
        await migrate(database, migration_folders(business))
        watch_queue(database)
        services = make_services(settings, business, database)
        await check_embedding_model(database, services.embedder)
        if business.documents:
            documents = await read_documents(business.documents)
            await KnowledgeBase(database, services.embedder).ingest(documents)
        warming = asyncio.create_task(_warm(services), name="steward warm-up")
        try:
            yield services
        finally:
            warming.cancel()
            await asyncio.gather(warming, return_exceptions=True)
            await services.usage.aclose()
            await services.models.aclose()


async def _warm(services: Services) -> None:
    services.embedder.preload()
    await asyncio.to_thread(segmenter)
    await services.models.warm()
    if services.classifier:
        await services.classifier.train()


def make_services(settings: Settings, business: Business, database: Database) -> Services:
    """The services on an open, migrated database. Opens nothing itself."""
    embedder = make_embedder(settings)
    models = Models(settings, business)
    compactor = make_compactor(models, settings.timeout("compactor"))
    registry = ToolRegistry(business.tools_for(settings))
    knowledge = KnowledgeBase(database, embedder) if business.documents else None
    state = BusinessState(database, embedder)
    check_intents(business, registry)
    engine = ToolEngine(registry, database, settings, state, compactor, knowledge)
    versions = served(business, engine.registry.schemas([spec.name for spec in engine.registry]))
    local = settings.steward_local_router == "on" and settings.steward_routing == "on"
    trained = ClassifierStore(settings.steward_home / "classifiers", business.classifiers)
    return Services(
        settings=settings,
        business=business,
        database=database,
        embedder=embedder,
        models=models,
        engine=engine,
        queue=MemoryQueue(database, settings),
        usage=UsageLedger(database, settings, versions),
        served=versions,
        leases=ThreadLeases(database),
        classifier=LocalRouter(business, embedder, trained) if local and can_be_trained(business) else None,
    )


def check_intents(business: Business, registry: ToolRegistry) -> None:
    """An intent that lists a tool by a wrong name would quietly do without it. Raises ConfigurationError."""
    for intent in business.intents:
        # Tools of MCP servers (`server__tool`) join later, when their server is there.
        missing = [name for name in intent.tools if name not in registry and "__" not in name]
        if missing:
            raise ConfigurationError(
                f"Business {business.name}: intent {intent.name!r} lists {', '.join(missing)}, which its tools do not "
                "include; declare or correct it."
            )


def migration_folders(business: Business) -> list[tuple[str, Path]]:
    """Every package's migrations in the order of the layering, the business's own last."""
    packages = [
        (module.__name__, Path(str(module.__file__)).parent) for module in (memory, tools, nodes, graph)
    ]
    folders = [(name, folder / "migrations") for name, folder in packages]
    if business.migrations:
        folders.append((business.name, business.migrations))
    return folders
