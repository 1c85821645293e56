"""`steward resume`: settle an approval that a thread waits for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graph.cli.chat import finish_jobs
from graph.cli.printing import show_outcome
from graph.cli.running import OK, BadUsage, run

if TYPE_CHECKING:
    from graph.settings import Settings
    from tools.approval import ApprovalRequest


class Verdict(StrEnum):
    """What may be decided on a request."""

    approve = "approve"
    edit = "edit"
    reject = "reject"
    respond = "respond"


def resume(
    thread: Annotated[str, typer.Option("--thread", help="The conversation that waits.")],
    decision: Annotated[Verdict, typer.Option("--decision", help="What is decided.")],
    call: Annotated[
        str | None, typer.Option("--call", help="The one call that this settles; none: all.")
    ] = None,
    args: Annotated[
        str | None, typer.Option("--args", help="For edit: all arguments of the call, as a JSON object.")
    ] = None,
    message: Annotated[
        str | None, typer.Option("--message", help="For reject and respond: what to say.")
    ] = None,
    as_staff: Annotated[bool, typer.Option("--as-staff", help="Decide as staff.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outcome as JSON, as the last line.")
    ] = False,
) -> None:
    """Approve, edit, reject or answer a call that waits, and go on from there."""
    verdict = read_verdict(decision.value, args, message)
    run(lambda settings: _resume(settings, thread, verdict, call, as_staff=as_staff, as_json=as_json))


def read_verdict(decision: str, args: str | None, message: str | None) -> dict[str, Any]:
    """The decision in the human-in-the-loop form. Raises BadUsage."""
    verdict: dict[str, Any] = {"type": decision}
    if message is not None:
        verdict["message"] = message
    if decision == "respond" and not message:
        raise BadUsage("--decision respond needs --message with the answer.")
    if decision == "edit":
        try:
            edited = json.loads(args or "")
        except ValueError:
            edited = None
        if not isinstance(edited, dict):
            raise BadUsage('--decision edit needs --args with a JSON object, such as \'{"order_id": "…"}\'.')
        verdict["args"] = edited
    elif args is not None:
        raise BadUsage("--args belongs to --decision edit.")
    return verdict


def chosen(requests: Sequence[ApprovalRequest], call: str | None, *, as_staff: bool) -> list[ApprovalRequest]:
    """The requests that a decision is about. Raises BadUsage where they are not this person's to settle."""
    found = [request for request in requests if call is None or request["call_id"] == call]
    if not found:
        waiting = ", ".join(request["call_id"] for request in requests)
        raise BadUsage(f"No call {call} waits on this thread; waiting: {waiting}.")
    if not as_staff and any(request["by"] == "staff" for request in found):
        names = ", ".join(request["name"] for request in found if request["by"] == "staff")
        raise BadUsage(f"{names} waits for approval by staff; decide with --as-staff.")
    return found


async def _resume(
    settings: Settings,
    thread_id: str,
    verdict: dict[str, Any],
    call: str | None,
    *,
    as_staff: bool,
    as_json: bool,
) -> int:
    from graph.conversation import NothingWaits, read_state, settle
    from graph.open import open_agent
    from nodes.context import AgentContext

    async with open_agent(settings) as agent:
        snapshot = await read_state(agent, thread_id)
        if not snapshot.interrupts:
            raise NothingWaits(f"Nothing waits for a decision on thread {thread_id}.")
        requests = chosen(snapshot.values["approvals"], call, as_staff=as_staff)
        if verdict["type"] == "edit" and len(requests) > 1:
            raise BadUsage("Several calls wait; name the one to edit with --call.")
        turn = snapshot.values["turn"]
        context = AgentContext(
            user_id=turn["user_id"],
            locale=turn["locale"],
            timezone=turn["timezone"],
            role="staff" if as_staff else "customer",
        )
        decisions = {request["call_id"]: verdict for request in requests}
        snapshot = await settle(agent, {"decisions": decisions}, thread_id, context)
        show_outcome(thread_id, snapshot, None, as_json=as_json)
        await finish_jobs(agent, settings, snapshot)
    return OK
