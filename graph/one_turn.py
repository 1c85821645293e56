"""The compiled graph with one turn at a time on a thread: a second one waits, or is told (STEWARD_BUSY)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from langchain_core.messages import convert_to_messages
from langchain_core.runnables import RunnableConfig
from langgraph.constants import START
from langgraph.types import Command

from memory.checkpoints import CheckpointSaver
from memory.errors import InvalidInput
from memory.leases import ThreadLeases
from nodes.context import AgentContext
from nodes.settings import NodeSettings
from tools.approval import read_decisions

if TYPE_CHECKING:
    from graph.open import CompiledGraph

PATIENCE = 2.0
"""A queued turn waits for so many turn budgets before it is told that the thread is busy."""


class OneTurnGraph:
    """Runs turns as `ainvoke` and `astream` of the compiled graph do; all else is the compiled graph's own."""

    def __init__(
        self, graph: CompiledGraph, saver: CheckpointSaver, leases: ThreadLeases, settings: NodeSettings
    ) -> None:
        self._graph = graph
        self._saver = saver
        self._leases = leases
        queueing = settings.steward_busy == "queue"
        self._patience = settings.steward_turn_seconds * PATIENCE if queueing else 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)

    async def ainvoke(self, input: Any, config: RunnableConfig, **kwargs: Any) -> dict[str, Any]:
        """One turn; the final state. Raises ThreadBusy where the thread does not come free."""
        async with self._turn(config) as last_step:
            config = _naming_the_user(config, kwargs.get("context"))
            input = await self._checked(input, config, kwargs.get("context"), last_step)
            state: dict[str, Any] = await self._graph.ainvoke(input, config, **kwargs)
            return state

    async def astream(self, input: Any, config: RunnableConfig, **kwargs: Any) -> AsyncIterator[Any]:
        """One turn as a stream of events. Raises ThreadBusy where the thread does not come free."""
        async with self._turn(config) as last_step:
            config = _naming_the_user(config, kwargs.get("context"))
            input = await self._checked(input, config, kwargs.get("context"), last_step)
            async for event in self._graph.astream(input, config, **kwargs):
                yield event

    async def _checked(
        self, input: Any, config: RunnableConfig, context: AgentContext | None, last_step: str | None
    ) -> Any:
        """The input as the graph may have it. Raises InvalidInput for decisions that cannot be read."""
        if not isinstance(input, Command):
            return await self._with_what_was_announced(input, config) if last_step == "input" else input
        snapshot = await self._graph.aget_state(config)
        requests, answer = snapshot.values.get("approvals") or [], input.resume
        interrupts = {interrupt.id for interrupt in snapshot.interrupts}
        if requests and interrupts and answer is not None:
            by_interrupt = isinstance(answer, Mapping) and interrupts >= set(answer)
            for value in answer.values() if by_interrupt else [answer]:
                read_decisions(value, requests, by=(context or AgentContext()).role)
        return input

    async def _with_what_was_announced(self, input: Any, config: RunnableConfig) -> Any:
        """The input, led by messages of an earlier one whose run died before its first step.

        A checkpoint holds that input, so its sender counts on it; LangGraph would drop it for the new one.
        """
        configurable = config.get("configurable") or {}
        saver = self._saver
        fresh = isinstance(input, Mapping) and "messages" in input and "checkpoint_id" not in configurable
        if not fresh:
            return input
        found = await saver.aget_tuple({"configurable": {"thread_id": configurable["thread_id"]}})
        if found is None or found.metadata.get("source") != "input":
            return input
        announced = found.checkpoint["channel_values"].get(START) or {}
        new = convert_to_messages(_as_list(input["messages"]))
        ids = {message.id for message in new if message.id}
        old = [m for m in convert_to_messages(_as_list(announced.get("messages", []))) if m.id not in ids]
        return {**input, "messages": [*old, *new]}

    @asynccontextmanager
    async def _turn(self, config: RunnableConfig) -> AsyncIterator[str | None]:
        """Holds the thread, and lets go of it when everything of the turn is stored."""
        thread_id = (config.get("configurable") or {}).get("thread_id")
        if not thread_id:
            raise InvalidInput('A turn needs a thread: pass {"configurable": {"thread_id": "…"}} as config.')
        async with self._leases.hold(str(thread_id), patience=self._patience) as last_step:
            try:
                yield last_step
            finally:
                await self._saver.flush()


def _naming_the_user(config: RunnableConfig, context: AgentContext | None) -> RunnableConfig:
    """Each checkpoint says whose it is, so that erasing a user finds every conversation, as on the server."""
    user_id = (context or AgentContext()).user_id
    return {**config, "metadata": {**config.get("metadata", {}), "user_id": user_id}}


def _as_list(messages: Any) -> list[Any]:
    return list(messages) if isinstance(messages, list) else [messages]
