"""Turns a stage into a LangGraph node: finds the services of this event loop, frames the run, traces the stage."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

import structlog
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime
from opentelemetry import trace

from graph.faults import SKIPPED, after_fault
from graph.overriding import under_overrides
from graph.server.acting import acting_context
from memory.errors import StewardError
from nodes.context import AgentContext
from nodes.run import Node, Run, Services
from nodes.state import AgentState

GOES_ON_AT = "__steward_goes_on_at"
"""In a run's configuration: Unix seconds at which it went on with a turn that was cut off."""
AFTER_JOB = "__steward_after_job"
"""In a run's configuration: the newest memory job when it began."""
tracer = trace.get_tracer("steward")


class BoundNode(Protocol):
    """A node as LangGraph calls it."""

    def __call__(self, state: AgentState, *, runtime: Runtime[AgentContext]) -> Awaitable[AgentState]: ...


class ServiceHolder(Protocol):
    """Whoever has the services of the running event loop."""

    async def services(self) -> Services: ...


def bind(name: str, node: Node, holder: ServiceHolder) -> BoundNode:
    """The stage as LangGraph calls it; logs and spans carry thread, turn and node."""

    async def bound(state: AgentState, *, runtime: Runtime[AgentContext]) -> AgentState:
        services = await holder.services()
        config = get_config()
        thread_id = str(config.get("configurable", {}).get("thread_id", ""))
        turn = state.get("turn") if name != "begin_turn" else None  # what stands there is the last one's
        context = acting_context(runtime.context, config)
        services = under_overrides(services, context)
        state = _with_time(state, config, services.settings.steward_turn_seconds)
        after_job = config.get("configurable", {}).get(AFTER_JOB)
        run = Run(services, context, thread_id, config, runtime.stream_writer, after_job)
        ids = {"thread_id": thread_id, "turn_id": turn["id"] if turn else "", "node": name}
        with structlog.contextvars.bound_contextvars(**ids), _span(name, ids) as span:
            update = await _served(name, node, state, run)
            if opened := update.get("turn"):
                span.set_attribute("steward.turn_id", opened["id"])
            return update

    bound.__name__ = name
    return bound


def _with_time(state: AgentState, config: RunnableConfig, seconds: float) -> AgentState:
    """A turn that is gone on with after it was cut off has the whole of its time again."""
    since, turn = config.get("configurable", {}).get(GOES_ON_AT), state.get("turn")
    if since is None or turn is None:
        return state
    return {**state, "turn": {**turn, "deadline": max(turn["deadline"], since + seconds)}}


async def _served(name: str, node: Node, state: AgentState, run: Run) -> AgentState:
    """The stage's update. Errors of the house say themselves what to do, and the graph's own signals are none."""
    if state.get("fault") and name in SKIPPED:
        return {}
    try:
        return await node(state, run)
    except (StewardError, GraphBubbleUp):
        raise
    except Exception as error:
        if name == "request_approval":
            raise  # it would be asked again, and fail again, without end
        return after_fault(name, state, error)


def _span(name: str, ids: Mapping[str, str]) -> AbstractContextManager[trace.Span]:
    attributes = {f"steward.{key}": value for key, value in ids.items()}
    # An interrupt leaves a node as an exception and is no error.
    return tracer.start_as_current_span(
        f"node {name}", attributes=attributes, record_exception=False, set_status_on_exception=False
    )
