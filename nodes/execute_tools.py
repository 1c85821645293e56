"""Execute the tools that the model called: nothing runs before all arguments hold and all approvals are settled."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import cast

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from memory.clean import clean_json
from nodes.compact import booked_digests
from nodes.context_groups import open_calls
from nodes.messages import new_id
from nodes.run import Run
from nodes.scope import call_scope
from nodes.state import AgentState, Handoff, Retry, ToolCallRecord
from nodes.stopping import stop_reason
from tools.approval import ApprovalRequest
from tools.calls import CallScope, Decision, Outcome, PreparedCall, RawCall
from tools.envelope import render
from tools.keys import idempotency_key
from tools.outcomes import refusal
from tools.reading import raw_calls
from tools.spec import Arguments

OVER_THE_LIMIT = "The turn has used up its tool calls; this one did not run."


async def execute_tools(state: AgentState, run: Run) -> AgentState:
    """Run the open calls of the turn: results go to the messages, transient failures wait for another try."""
    if retry := state.get("retry"):
        await asyncio.sleep(_wait(retry, state["turn"]["deadline"]))
    scope = call_scope(state["turn"], run, state)
    engine = run.services.engine
    prepared, beyond = _within_limit(await engine.prepare(_open_calls(state), scope), state, run)
    decisions = state.get("decisions", {})
    if waiting := _unsettled(prepared, decisions, scope):
        return {
            "approvals": [*_deferred(state, prepared), *waiting],
            "tool_calls": _pending(state, prepared),
        }
    with booked_digests(run.services.models, run.prompt("compactor")) as bookings:
        outcomes = await engine.run(prepared, scope, decisions, run.emit)
    for booking in bookings:
        run.services.usage.add(state["turn"], run.thread_id, booking)
        state = {**state, **booking.onto(state)}
    update = _update(state, run, outcomes, beyond)
    return {"usage": state["usage"], **update}


def _within_limit(
    prepared: Sequence[PreparedCall | Outcome], state: AgentState, run: Run
) -> tuple[list[PreparedCall | Outcome], list[Outcome]]:
    """The calls that the turn's limit still allows, in order, and the refusal of those beyond it."""
    room = max(run.settings.steward_max_tool_calls - state["turn"]["tool_calls"], 0)
    beyond = [
        refusal(call.raw, call.spec.name, "limit", OVER_THE_LIMIT, args=call.args)
        if isinstance(call, PreparedCall)
        else call
        for call in prepared[room:]
    ]
    return list(prepared[:room]), beyond


def _wait(retry: Retry, deadline: float) -> float:
    now = time.time()
    return max(0.0, min(retry["not_before"], deadline) - now)


def _open_calls(state: AgentState) -> list[RawCall]:
    """The calls of the turn that have no result yet, in the order the model made them."""
    messages = state["messages"]
    answered = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
    return [
        call for message in open_calls(messages) for call in raw_calls(message) if call.id not in answered
    ]


def _unsettled(
    prepared: Sequence[PreparedCall | Outcome], decisions: dict[str, Decision], scope: CallScope
) -> list[ApprovalRequest]:
    return [
        {
            "call_id": call.id,
            "name": call.spec.name,
            "args": _stored(call.args),
            "by": call.approval.by,
            "reason": call.approval.reason,
            "key": idempotency_key(scope, call.spec.name, call.args),
        }
        for call in prepared
        if isinstance(call, PreparedCall) and call.approval and call.id not in decisions
    ]


def _deferred(state: AgentState, handled: Sequence[PreparedCall | Outcome]) -> list[ApprovalRequest]:
    """Requests of earlier turns that still wait for staff."""
    ids = {call.id for call in handled}
    return [request for request in state.get("approvals", []) if request["call_id"] not in ids]


def _pending(state: AgentState, prepared: Sequence[PreparedCall | Outcome]) -> list[ToolCallRecord]:
    records: list[ToolCallRecord] = [
        {
            "id": call.id,
            "name": call.spec.name,
            "args": _stored(call.args),
            "status": "pending",
            "error_kind": None,
            "attempts": 0,
        }
        for call in prepared
        if isinstance(call, PreparedCall)
    ]
    return _merged(state["tool_calls"], records)


def _update(
    state: AgentState, run: Run, outcomes: Sequence[Outcome], beyond: Sequence[Outcome]
) -> AgentState:
    final = [outcome for outcome in outcomes if not outcome.transient]
    passing = [outcome for outcome in outcomes if outcome.transient]
    update: AgentState = {
        "messages": [_message(outcome) for outcome in [*final, *beyond]],
        "tool_calls": _merged(state["tool_calls"], [_record(outcome) for outcome in [*outcomes, *beyond]]),
        "approvals": _deferred(state, [*outcomes, *beyond]),
        "retry": _retry(state, passing),
        "turn": {**state["turn"], "tool_calls": state["turn"]["tool_calls"] + len(final)},
    }
    earlier = [record for record in state["tool_calls"] if record["status"] != "pending"]
    if reason := stop_reason(earlier, final) or ("tool_calls" if beyond else None):
        update["stopped_because"] = reason
    if handoff := _handoff({**state, **update}, run, final):
        update["handoff"] = handoff
    return update


def _message(outcome: Outcome) -> AnyMessage:
    return ToolMessage(
        render(outcome.envelope),
        tool_call_id=outcome.id,
        name=outcome.name,
        status="success" if outcome.ok else "error",
        id=new_id("result"),
    )


def _record(outcome: Outcome) -> ToolCallRecord:
    return {
        "id": outcome.id,
        "name": outcome.name,
        "args": _stored(outcome.args),
        "status": "pending" if outcome.transient else outcome.envelope["status"],
        "error_kind": outcome.envelope.get("error_kind"),
        "attempts": outcome.attempts,
    }


def _stored(args: Arguments) -> Arguments:
    """As a checkpoint holds them: a number beyond 64 bits as its digits, which are read as that number again."""
    return cast(Arguments, clean_json(args).value)


def _merged(before: Sequence[ToolCallRecord], after: Sequence[ToolCallRecord]) -> list[ToolCallRecord]:
    by_id = {record["id"]: record for record in before}
    by_id.update({record["id"]: record for record in after})
    return list(by_id.values())


def _retry(state: AgentState, passing: Sequence[Outcome]) -> Retry | None:
    if not passing:
        return None
    before = retry["attempts"] if (retry := state.get("retry")) else {}
    return {
        "attempts": {**before, **{outcome.id: outcome.attempts for outcome in passing}},
        "not_before": time.time() + max(outcome.retry_after for outcome in passing),
    }


def _handoff(state: AgentState, run: Run, final: Sequence[Outcome]) -> Handoff | None:
    for outcome in final:
        if request := outcome.signals.get("handoff"):
            route = state["route"]
            return {
                "since": run.now().isoformat(),
                "reason": str(request.get("reason", "")),
                "packet": {
                    "summary": request.get("summary", ""),
                    "request": state["turn"]["request"],
                    "intents": [intent["name"] for intent in route["intents"]] if route else [],
                    "tool_calls": list(state["tool_calls"]),
                },
            }
    return None


SETTLED = "-settled"
"""Ends the id of a call that is made again because its approval was settled after its turn."""


def settled_copy(request: ApprovalRequest) -> AIMessage:
    """The call of an approval that was settled after its turn had ended, made again under an id of its own."""
    call_id = f"{request['call_id']}{SETTLED}"
    call = {"id": call_id, "name": request["name"], "args": request["args"], "type": "tool_call"}
    return AIMessage("", id=new_id("answer"), tool_calls=[call])


def settled_late(messages: Sequence[AnyMessage]) -> list[str]:
    """Tools whose calls were settled by staff behind the last answer, so that the customer does not know yet."""
    names: list[str] = []
    for message in reversed(messages):
        calls = message.tool_calls if isinstance(message, AIMessage) else []
        if isinstance(message, HumanMessage) or (isinstance(message, AIMessage) and not calls):
            break
        names += [call["name"] for call in calls if str(call["id"]).endswith(SETTLED)]
    return names[::-1]
