"""Open an agent in one's own process: database, migrations, worker, compiled graph."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from langchain_core.runnables import RunnableConfig

from graph.build import build_graph
from graph.chosen_business import chosen_business
from graph.holder import Holder
from graph.logs import hand_logs_to_host
from graph.one_turn import OneTurnGraph
from graph.settings import Settings
from graph.worker import beside, make_worker
from memory.checkpoints import make_checkpointer
from memory.encryption_health import require_key
from memory.worker import Worker
from nodes.business import Business
from nodes.context import AgentContext
from nodes.run import Node, Services
from tools.ledger import COPY

RECURSION_LIMIT = 400
"""Super-steps of one turn; far above what the turn's own limits allow."""


@dataclass(frozen=True)
class Agent:
    """An open agent. `graph` is the compiled state machine with the Postgres checkpointer, one turn a thread."""

    graph: OneTurnGraph
    services: Services
    worker: Worker


@asynccontextmanager
async def open_agent(
    settings: Settings | None = None,
    business: Business | None = None,
    *,
    stages: Mapping[str, Node] | None = None,
) -> AsyncIterator[Agent]:
    """Database, migrations, background worker (unless external) and graph; all closed at the end.

        async with open_agent(Settings()) as agent:
            state = await agent.graph.ainvoke(
                {"messages": [("user", "Where is my order ABC-20240520-001?")]},
                {"configurable": {"thread_id": "t1"}},
                context=AgentContext(user_id="u1"),
            )

    Without a business it serves the one that STEWARD_BUSINESS names. Any number of agents may be open in a process:
    those of several businesses may share a database, where each has tables of its own.

    Raises ConfigurationError, DatabaseUnavailable or SchemaError, each with what to do about it.
    """
    settings = settings or Settings.load()
    served = await asyncio.to_thread(chosen_business, settings) if business is None else business
    hand_logs_to_host()
    holder = Holder(settings, served)
    services = await holder.services()
    try:
        await require_key(services.database, settings)
        builder = build_graph(served, settings, stages=stages, holder=holder)
        saver = make_checkpointer(services.database, settings, copied=[COPY])
        graph = builder.compile(checkpointer=saver, name="steward")
        bounded = graph.with_config(recursion_limit=RECURSION_LIMIT)
        turns = OneTurnGraph.of(bounded, holder)
        worker = make_worker(services)
        async with beside(worker, settings):
            yield Agent(turns, services, worker)
    finally:
        await holder.close()


@dataclass(frozen=True)
class SyncAgent:
    """An open agent for code without an event loop."""

    agent: Agent
    portal: BlockingPortal

    def invoke(
        self, input: Any, config: RunnableConfig, *, context: AgentContext | None = None
    ) -> dict[str, Any]:
        """One turn; the final state."""
        return self.portal.call(lambda: self.agent.graph.ainvoke(input, config, context=context))

    def stream(
        self,
        input: Any,
        config: RunnableConfig,
        *,
        context: AgentContext | None = None,
        stream_mode: Any = "updates",
    ) -> Iterator[Any]:
        """One turn as a stream of events, in LangGraph's stream modes."""
        events = self.agent.graph.astream(input, config, context=context, stream_mode=stream_mode)
        try:
            while True:
                yield self.portal.call(anext, events)
        except StopAsyncIteration:
            return


@contextmanager
def open_agent_sync(
    settings: Settings | None = None, business: Business | None = None
) -> Iterator[SyncAgent]:
    """`open_agent` for code without an event loop: the loop runs in a thread of its own."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(open_agent(settings, business)) as agent,
    ):
        yield SyncAgent(agent, portal)
