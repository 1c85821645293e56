"""The compiled graph with one turn at a time on a thread, each message served once, and nothing stored unchecked.

Embedded and on the server alike: all ways of running a compiled graph lead through `astream`.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Self, cast

import psycopg
from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.constants import START
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateSnapshot
from pydantic import ValidationError

from graph.bind import AFTER_JOB, GOES_ON_AT, ServiceHolder
from graph.earlier_turn import EarlierTurn, find_earlier_turn
from graph.server.acting import acting_context
from memory.checkpoints import CheckpointSaver
from memory.clean import is_storable
from memory.embeddings import question_text
from memory.errors import DatabaseUnavailable, InvalidInput
from memory.leases import Held, LastStep
from nodes.context import ANONYMOUS, AgentContext
from nodes.state import AgentState, TurnInput
from nodes.turn_input import EXPECTED, Brought, is_repeat, read_input
from tools.approval import read_decisions

CompiledGraph = CompiledStateGraph[AgentState, AgentContext, TurnInput, AgentState]

PATIENCE = 2.0
"""A queued turn waits for so many turn budgets before it is told that the thread is busy."""
LONGEST_THREAD_ID = 255


@dataclass(frozen=True)
class _Entry:
    """What the graph is run with; where the message was served before, the turn that is told in place of that."""

    input: Any
    earlier: EarlierTurn | None = None
    goes_on: bool = False
    """With a turn that was cut off: it has the whole of its time again."""


class OneTurnGraph(CompiledGraph):
    """Runs turns as the compiled graph does. A second turn on a thread waits, or is told (STEWARD_BUSY); a message
    that was sent before gets its earlier answer, or its turn is gone on with where it was cut off.

    `asks_again`: decisions on an approval that cannot be read are asked for again in the interrupt's payload, as
    clients of the server expect it; else they raise InvalidInput.
    """

    def __init__(self, *, holder: ServiceHolder, asks_again: bool, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.holder = holder
        self.asks_again = asks_again

    @classmethod
    def of(cls, graph: CompiledGraph, holder: ServiceHolder, *, asks_again: bool = False) -> Self:
        """The graph, taking turns. `holder` has the services that its nodes work with."""
        attributes = {name: value for name, value in vars(graph).items() if name != "__orig_class__"}
        return cls(holder=holder, asks_again=asks_again, **attributes)

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **options: Any
    ) -> AsyncIterator[Any]:
        """One turn as a stream of events.

        Raises InvalidInput where nothing of the input can be stored or the thread is another user's, ThreadBusy where
        the thread does not come free.
        """
        brought = None if input is None or isinstance(input, Command) else read_input(input)
        run_id = _server_run(config or {})
        if brought and run_id:
            brought = brought.named_for(run_id)
        thread_id = _thread_id(config)
        context = acting_context(_read_context(options.get("context")), config or {})
        if brought:
            # Recall asks for it as soon as the thread has been taken and read.
            services = await self.holder.services()
            services.embedder.anticipate(question_text(str(brought.messages[-1].text)))
        async with self._turn(thread_id) as held:
            last_step = held.last_step
            context = _for_owner(last_step.user_id if last_step else None, context)
            options["context"] = context
            config = _naming_the_user(config or {}, context)
            entry = await self._entry(input, brought, config, context, last_step)
            config = _begun(config, time.time() if entry.goes_on else None, held.newest_job)
            if entry.earlier is None or entry.earlier.waits:
                events = cast(AsyncGenerator[Any], super().astream(entry.input, config, **options))
                async with aclosing(_told_clearly(events)) as told:
                    async for event in told:
                        yield event
            if entry.earlier:
                for event in entry.earlier.events(options, str(self.stream_mode)):
                    yield event

    @asynccontextmanager
    async def _turn(self, thread_id: str) -> AsyncIterator[Held]:
        """Holds the thread, and lets go of it when everything of the turn is stored."""
        services = await self.holder.services()
        settings = services.settings
        patience = settings.steward_turn_seconds * PATIENCE if settings.steward_busy == "queue" else 0.0
        async with services.leases.hold(thread_id, patience=patience) as held:
            if not isinstance(self.checkpointer, CheckpointSaver):
                yield held
                return
            async with self.checkpointer.turn(held.lease, empty=held.last_step is None):
                yield held

    async def _entry(
        self,
        input: Any,
        brought: Brought | None,
        config: RunnableConfig,
        context: AgentContext,
        last_step: LastStep | None,
    ) -> _Entry:
        """What the graph is run with, now that nobody else runs a turn on the thread."""
        if not isinstance(self.checkpointer, BaseCheckpointSaver):
            return _Entry(input if brought is None else {"messages": brought.messages})
        if isinstance(input, Command):
            if not self.asks_again:
                await self._check_decisions(input, config, context)
            return _Entry(input)
        if brought is None:
            return _going_on(await self.aget_state(config))
        if last_step is None:
            return _Entry({"messages": brought.messages})
        run_id = _server_run(config)
        found = await self.checkpointer.aget_tuple(config) if last_step.source == "input" or run_id else None
        latest = found is not None and run_id is not None and found.metadata.get("run_id") == run_id
        messages = brought.messages
        if brought.named or latest or await self._was_begun(config, run_id):
            snapshot = await self.aget_state(config)
            known = snapshot.values.get("messages", [])
            if is_repeat(messages[-1], known):
                earlier = find_earlier_turn(str(messages[-1].id), snapshot)
                return _Entry(None, earlier) if earlier else _going_on(snapshot)
            messages = _without(known, messages)
        if latest:
            return _Entry({"messages": messages}, goes_on=True)
        announced = [] if found is None or _is_fork(config) else _announced(found)
        return _Entry({"messages": [*_without(messages, announced), *messages]})

    async def _was_begun(self, config: RunnableConfig, run_id: str | None) -> bool:
        """Whether the server takes a run up again: where it was killed, it does so even with one that had come to its
        end, and with one that others have followed since."""
        if run_id is None or not isinstance(self.checkpointer, CheckpointSaver):
            return False
        return await self.checkpointer.has_run(config, run_id)

    async def _check_decisions(
        self, input: Command[Any], config: RunnableConfig, context: AgentContext
    ) -> None:
        """Raises InvalidInput for decisions that cannot be read."""
        snapshot = await self.aget_state(config)
        requests, answer = snapshot.values.get("approvals") or [], input.resume
        interrupts = {interrupt.id for interrupt in snapshot.interrupts}
        if requests and interrupts and answer is not None:
            by_interrupt = isinstance(answer, Mapping) and interrupts >= set(answer)
            for value in answer.values() if by_interrupt else [answer]:
                read_decisions(value, requests, by=context.role)


async def _told_clearly(events: AsyncGenerator[Any]) -> AsyncGenerator[Any]:
    """The events; what Postgres says while the graph stores a step becomes an error of the house."""
    try:
        async with aclosing(events):
            async for event in events:
                yield event
    except psycopg.Error as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DatabaseUnavailable(
            f"Postgres failed in the middle of the turn ({said}); send the message again under its id."
        ) from error


def _going_on(snapshot: StateSnapshot) -> _Entry:
    """Goes on where the thread was cut off. Raises InvalidInput where there is no thread yet."""
    if not snapshot.values and not snapshot.tasks:
        raise InvalidInput(f"There is nothing to go on with. {EXPECTED}")
    return _Entry(None, goes_on=bool(snapshot.tasks) and not snapshot.interrupts)


def _announced(found: CheckpointTuple) -> Sequence[AnyMessage]:
    """Messages of an earlier input whose run died before its first step.

    A checkpoint holds that input, so its sender counts on it; LangGraph would drop it for the new one.
    """
    if found.metadata.get("source") != "input":
        return []
    with suppress(InvalidInput):  # what could not be taken stands in nobody's way
        return read_input(found.checkpoint["channel_values"].get(START)).messages
    return []


def _server_run(config: RunnableConfig) -> str | None:
    """The server's id of the run; None where none of its runs is under way."""
    run_id = config.get("metadata", {}).get("run_id")
    return str(run_id) if run_id else None


def _begun(config: RunnableConfig, goes_on_at: float | None, newest_job: int) -> RunnableConfig:
    marks = {GOES_ON_AT: goes_on_at, AFTER_JOB: newest_job}
    return {**config, "configurable": {**config.get("configurable", {}), **marks}}


def _without(known: Sequence[AnyMessage], messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    ids = {message.id for message in known}
    return [message for message in messages if message.id not in ids]


def _is_fork(config: RunnableConfig) -> bool:
    return bool((config.get("configurable") or {}).get("checkpoint_id"))


def _thread_id(config: RunnableConfig | None) -> str:
    given = ((config or {}).get("configurable") or {}).get("thread_id")
    thread_id = "" if given is None else str(given)
    if not thread_id:
        raise InvalidInput('A turn needs a thread: pass {"configurable": {"thread_id": "…"}} as config.')
    if len(thread_id) > LONGEST_THREAD_ID or not is_storable(thread_id):
        raise InvalidInput(f"A thread's name has at most {LONGEST_THREAD_ID} characters, and no NUL.")
    return thread_id


def _read_context(given: Any) -> AgentContext:
    if isinstance(given, AgentContext):
        return given
    try:
        return AgentContext.model_validate(given or {})
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(str(part) for part in fault['loc']) or 'it'}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_input=False)
        )
        raise InvalidInput(f"The context of the run cannot be read: {faults}.") from None


def _for_owner(owner: str | None, context: AgentContext) -> AgentContext:
    """Staff, and a caller that names no customer, act for the one whose thread it is.

    Raises InvalidInput where a customer is at another's thread.
    """
    if owner is None or owner == context.user_id:
        return context
    if context.role == "staff" or context.user_id == ANONYMOUS:
        return context.model_copy(update={"user_id": owner})
    raise InvalidInput("This thread belongs to another user; begin a thread of your own.")


def _naming_the_user(config: RunnableConfig, context: AgentContext) -> RunnableConfig:
    """Each checkpoint says whose it is, so that erasing a user finds every conversation."""
    return {**config, "metadata": {**config.get("metadata", {}), "user_id": context.user_id}}
