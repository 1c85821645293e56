"""Run one turn of a conversation and let somebody watch it; shared by the command line and the demo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import Command, StateSnapshot

from graph.open import Agent
from memory.clean import clean_text
from memory.errors import StewardError
from nodes.context import AgentContext


class NothingWaits(StewardError):
    """No approval waits on the thread."""


class Watcher(Protocol):
    """Whoever watches a turn."""

    def text(self, piece: str) -> None:
        """A piece of the answer, as it is written."""

    def void(self) -> None:
        """What was written so far in this message is no part of the answer."""

    def event(self, event: Mapping[str, Any]) -> None:
        """A custom event: a tool that starts, finishes, fails."""


async def send(
    agent: Agent,
    text: str,
    thread_id: str,
    context: AgentContext,
    watcher: Watcher | None = None,
    *,
    message_id: str | None = None,
) -> StateSnapshot:
    """The customer's message, served to the end of the turn or to its interrupt; the state it left.

    A message that is sent again under its `message_id` gets its earlier answer. Raises InvalidInput where the thread
    belongs to somebody else, ThreadBusy, DatabaseUnavailable.
    """
    message = HumanMessage(clean_text(text), id=message_id)
    return await _run(agent, {"messages": [message]}, thread_id, context, watcher)


async def settle(
    agent: Agent, answer: Any, thread_id: str, context: AgentContext, watcher: Watcher | None = None
) -> StateSnapshot:
    """Decisions on the approval that waits on the thread; the state that the turn left.

    Raises InvalidInput where the answer cannot be read, NothingWaits where no approval waits.
    """
    snapshot = await read_state(agent, thread_id)
    if not snapshot.interrupts:
        raise NothingWaits(f"Nothing waits for a decision on thread {thread_id}.")
    return await _run(agent, Command(resume=answer), thread_id, context, watcher)


async def read_state(agent: Agent, thread_id: str) -> StateSnapshot:
    """The thread as it stands; empty values where it was never begun."""
    snapshot: StateSnapshot = await agent.graph.aget_state({"configurable": {"thread_id": thread_id}})
    return snapshot


def owner(snapshot: StateSnapshot) -> str | None:
    """The customer whose thread this is; None for a thread that was never begun."""
    turn = snapshot.values.get("turn") if snapshot.values else None
    return turn["user_id"] if turn else None


async def _run(
    agent: Agent, given: Any, thread_id: str, context: AgentContext, watcher: Watcher | None
) -> StateSnapshot:
    config: Any = {"configurable": {"thread_id": thread_id}}
    values: dict[str, Any] = {}
    # Who does not watch does not ask for messages, so that the model is not made to stream them.
    modes = ["values", "messages", "custom"] if watcher else ["values"]
    async for mode, event in agent.graph.astream(given, config, context=context, stream_mode=modes):
        if mode == "values":
            values = event
        elif watcher is None:
            continue
        elif mode == "messages":
            _show(event[0], watcher)
        elif event.get("type") == "provisional":
            watcher.void()
        else:
            watcher.event(event)
    # The turn's own state: for a message that was sent again the thread may have moved on.
    return (await read_state(agent, thread_id))._replace(values=values)


def _show(message: Any, watcher: Watcher) -> None:
    """Only what the agent says, not its calls nor their results."""
    if isinstance(message, AIMessage) and message.text and not message.tool_calls:
        watcher.text(message.text)
