"""End the turn: queue one durable job that will remember it, and book what it cost. No model call, no wait (M8)."""

from __future__ import annotations

import asyncio

from langchain_core.messages import AnyMessage, HumanMessage

from memory.borrowed import without_copies
from memory.extraction import Exchange
from memory.queue import FoldRequest
from nodes.folding import is_fold_due, turns_to_fold
from nodes.foreign_text import foreign_text
from nodes.run import Run
from nodes.state import AgentState
from nodes.turn_facts import confirmed_by_tools, objects_of
from nodes.turn_telemetry import turn_ended


async def write_memory(state: AgentState, run: Run) -> AgentState:
    """Queue the finished exchange, flush the ledger rows of the turn, remember what the turn was about."""
    await asyncio.gather(_remember(state, run), run.services.usage.flush())
    turn_ended(state, run.settings.steward_turn_seconds)
    route = state.get("route")
    return {
        "last_route": [i["name"] for i in route["intents"]] if route and not route["ask"] else [],
        "closed": state["turn"]["message_id"],
    }


async def _remember(state: AgentState, run: Run) -> None:
    if not _was_heard(state):
        return
    if run.settings.steward_long_term_memory == "on":
        await run.services.queue.enqueue_turn(_exchange(state, run))
    await _fold(state, run)


async def _fold(state: AgentState, run: Run) -> None:
    """Have the oldest turns summarised once the history nears its budget, unless that is on its way already."""
    plan, queue = state.get("context"), run.services.queue
    if plan is None or not is_fold_due(plan) or await queue.has_fold(run.thread_id):
        return
    folded_until = session["folded_until"] if (session := state.get("session")) else None
    if fold := turns_to_fold(plan, state["messages"], folded_until):
        user_id = state["turn"]["user_id"]
        await queue.enqueue_fold(
            FoldRequest(user_id, run.thread_id, fold.messages, fold.until, folded_until, run.after_job)
        )


def _was_heard(state: AgentState) -> bool:
    """What the customer said counts whatever became of the answer; only a message that was refused was not heard."""
    return state.get("route") is not None or bool(state.get("fault"))


def _exchange(state: AgentState, run: Run) -> Exchange:
    turn = state["turn"]
    route = state.get("route")
    customer, foreign = _customer_words(state), foreign_text(state["messages"])
    own_messages, registry = _of_this_turn(state), run.services.engine.registry
    return Exchange(
        user_id=turn["user_id"],
        thread_id=run.thread_id,
        turn_id=turn["id"],
        message_id=turn["message_id"],
        position=sum(isinstance(message, HumanMessage) for message in state["messages"]),
        customer=customer,
        # What is only quoted from elsewhere is not handed on as part of the conversation.
        answer=without_copies(state.get("answer") or "", [customer], foreign),
        said_at=run.now(),
        timezone=turn["timezone"],
        locale=turn["locale"],
        intents=tuple(i["name"] for i in route["intents"]) if route else (),
        about=objects_of(own_messages, registry),
        confirmed=confirmed_by_tools(own_messages, registry),
        foreign=foreign,
        after_job=run.after_job,
    )


def _of_this_turn(state: AgentState) -> list[AnyMessage]:
    """The customer's message and what followed it."""
    messages = state["messages"]
    ids = [message.id for message in messages]
    message_id = state["turn"]["message_id"]
    return list(messages[ids.index(message_id) :]) if message_id in ids else []


def _customer_words(state: AgentState) -> str:
    for message in reversed(state["messages"]):
        if isinstance(message, HumanMessage) and message.id == state["turn"]["message_id"]:
            return message.text
    return state["turn"]["request"]
