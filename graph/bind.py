"""Turns a stage into a LangGraph node: finds the services of this event loop, frames the run, traces the stage."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

import structlog
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.runtime import Runtime
from opentelemetry import trace

from graph.first_stages import FIRST_STAGES
from graph.overriding import under_overrides
from graph.server.acting import acting_context
from nodes.context import AgentContext
from nodes.open_turn import next_turn_id
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
        context = acting_context(runtime.context, config)
        services = under_overrides(services, context)
        state = _with_time(state, config, services.settings.steward_turn_seconds)
        after_job = config.get("configurable", {}).get(AFTER_JOB)
        run = Run(services, context, thread_id, config, runtime.stream_writer, after_job)
        ids = {"thread_id": thread_id, "turn_id": _turn_id(name, state), "node": name}
        with structlog.contextvars.bound_contextvars(**ids), _span(name, ids):
            return await node(state, run)

    bound.__name__ = name
    return bound


def _with_time(state: AgentState, config: RunnableConfig, seconds: float) -> AgentState:
    """A turn that is gone on with after it was cut off has the whole of its time again."""
    since, turn = config.get("configurable", {}).get(GOES_ON_AT), state.get("turn")
    if since is None or turn is None:
        return state
    return {**state, "turn": {**turn, "deadline": max(turn["deadline"], since + seconds)}}


def _turn_id(name: str, state: AgentState) -> str:
    """The turn that the stage works on; before it is opened, the last one's stands in the state."""
    if name in FIRST_STAGES:
        return next_turn_id(state)
    turn = state.get("turn")
    return turn["id"] if turn else ""


def _span(name: str, ids: Mapping[str, str]) -> AbstractContextManager[trace.Span]:
    attributes = {f"steward.{key}": value for key, value in ids.items()}
    # An interrupt leaves a node as an exception and is no error.
    return tracer.start_as_current_span(
        f"node {name}", attributes=attributes, record_exception=False, set_status_on_exception=False
    )
