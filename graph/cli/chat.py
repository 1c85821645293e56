"""`steward chat`: one turn, or a conversation when no message is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from graph.cli.printing import Printer, note, say_who_answers, show_outcome
from graph.cli.running import OK, BadUsage, run

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from graph.open import Agent
    from graph.settings import Settings
    from nodes.context import AgentContext

DRAIN_SECONDS = 20.0
"""How long a command waits at its end for the memory jobs of its turn."""


def chat(
    user: Annotated[str, typer.Option("--user", help="The customer.")],
    message: Annotated[
        str | None, typer.Argument(help="What the customer says; none: a conversation.")
    ] = None,
    thread: Annotated[str | None, typer.Option("--thread", help="The conversation; none: a new one.")] = None,
    stream: Annotated[bool, typer.Option("--stream", help="Print the answer while it is written.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outcome as JSON, as the last line.")
    ] = False,
    message_id: Annotated[
        str | None,
        typer.Option(help="Name of the message: sent again under it, it gets its earlier answer."),
    ] = None,
) -> None:
    """Talk to the agent: one turn, or a conversation."""
    if message_id is not None and (message is None or thread is None):
        raise BadUsage("--message-id goes with a message and --thread.")
    if message is None:
        from graph.cli.talk import talk

        talk(user, thread or str(uuid4()), as_json=as_json)
    run(
        lambda settings: _one_turn(
            settings, message, message_id, user, thread, stream=stream, as_json=as_json
        )
    )


async def _one_turn(
    settings: Settings,
    message: str,
    message_id: str | None,
    user: str,
    thread: str | None,
    *,
    stream: bool,
    as_json: bool,
) -> int:
    from graph.conversation import send
    from graph.open import open_agent

    context = context_of(user)
    thread_id = thread or str(uuid4())
    async with open_agent(settings) as agent:
        say_who_answers(settings)
        if thread is None and not as_json:
            note(f"thread {thread_id}")
        printer = Printer() if stream else None
        snapshot = await send(agent, message, thread_id, context, printer, message_id=message_id)
        show_outcome(thread_id, snapshot, printer, as_json=as_json)
        await finish_jobs(agent, settings, snapshot)
    return OK


def context_of(user: str) -> AgentContext:
    """The customer as the graph knows them. Raises BadUsage."""
    from pydantic import ValidationError

    from nodes.context import AgentContext

    try:
        return AgentContext(user_id=user)
    except ValidationError:
        raise BadUsage("--user takes 1 to 512 characters, and no NUL.") from None


async def finish_jobs(agent: Agent, settings: Settings, snapshot: StateSnapshot) -> None:
    """Let the memory jobs of the turn run, unless another process does that."""
    turn = snapshot.values.get("turn")
    if settings.steward_worker == "inline" and turn:
        await agent.worker.drain(timeout=DRAIN_SECONDS, turn_id=turn["id"])
