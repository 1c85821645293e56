"""Asking a person before a call runs, in the form that LangChain's human-in-the-loop clients know (T9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NotRequired

from typing_extensions import TypedDict

from memory.errors import InvalidInput
from tools.calls import Decision
from tools.spec import Approver, Arguments

DecisionType = Literal["approve", "edit", "reject", "respond"]
ALLOWED: Final[tuple[DecisionType, ...]] = ("approve", "edit", "reject", "respond")


class ApprovalRequest(TypedDict):
    """One call that waits for a person."""

    call_id: str
    name: str
    args: Arguments
    by: Approver
    reason: str
    key: NotRequired[str]
    """Idempotency key of the call: decided in a fork or in a copy of the thread too, it happens once."""


class ActionRequest(TypedDict):
    """A call as a client shows it."""

    name: str
    args: Arguments
    description: str


class ReviewConfig(TypedDict):
    """What the person may do with it."""

    action_name: str
    allowed_decisions: list[DecisionType]


class ApprovalPayload(TypedDict):
    """What the graph interrupts with."""

    action_requests: list[ActionRequest]
    review_configs: list[ReviewConfig]
    error: NotRequired[str]
    """Why the last answer could not be read."""


def payload(requests: Sequence[ApprovalRequest]) -> ApprovalPayload:
    """One interrupt for all waiting calls; they are answered in this order."""
    return {
        "action_requests": [
            {"name": request["name"], "args": request["args"], "description": request["reason"]}
            for request in requests
        ],
        "review_configs": [
            {"action_name": request["name"], "allowed_decisions": list(ALLOWED)} for request in requests
        ],
    }


def may_decide(by: Approver, needed: Approver) -> bool:
    """Staff may settle anything, a customer only what waits for the customer."""
    return by == "staff" or needed == "customer"


def read_decisions(
    answer: Any, requests: Sequence[ApprovalRequest], *, by: Approver = "customer"
) -> dict[str, Decision]:
    """The decisions by call id; a request that this person may not settle stays unsettled.

    Taken are `{"decisions": [...]}`, the bare list, one single decision for one single request, or decisions by
    call id (`{"decisions": {"call_1": {...}}}`), which may leave some open. A list answers every request, or every
    one that this person may settle, in order. Raises InvalidInput, which says what is allowed.

        read_decisions({"decisions": [{"type": "approve"}]}, requests, by="staff")
    """
    if isinstance(answer, Mapping) and "decisions" in answer:
        answer = answer["decisions"]
    own = [request for request in requests if may_decide(by, request["by"])]
    if isinstance(answer, Mapping) and "type" not in answer:
        return _by_call(answer, requests, own, by)
    decisions = [answer] if isinstance(answer, Mapping) else answer
    if not isinstance(decisions, Sequence) or isinstance(decisions, str | bytes):
        raise InvalidInput(f'An approval is answered with {{"decisions": [{{"type": …}}]}}, not {answer!r}.')
    for asked in (requests, own):
        if len(decisions) == len(asked):
            pairs = zip(asked, decisions, strict=True)
            return {r["call_id"]: _decision(value, r, by) for r, value in pairs if r in own}
    names = ", ".join(request["name"] for request in requests)
    raise InvalidInput(
        f"{len(requests)} calls wait for a decision ({names}), {len(decisions)} were given; "
        "give one for each, in this order, or name them by call id."
    )


def _by_call(
    answer: Mapping[str, Any],
    requests: Sequence[ApprovalRequest],
    own: Sequence[ApprovalRequest],
    by: Approver,
) -> dict[str, Decision]:
    waiting = {request["call_id"] for request in requests}
    if unknown := set(answer) - waiting:
        raise InvalidInput(f"No call {sorted(unknown)} waits for a decision; waiting are {sorted(waiting)}.")
    return {
        request["call_id"]: _decision(answer[request["call_id"]], request, by)
        for request in own
        if request["call_id"] in answer
    }


def _decision(value: Any, request: ApprovalRequest, by: Approver) -> Decision:
    kind = value.get("type") if isinstance(value, Mapping) else None
    if kind not in ALLOWED:
        raise InvalidInput(f"A decision has a type out of {', '.join(ALLOWED)}; got {value!r}.")
    decision: Decision = {"type": kind, "by": by}
    if key := request.get("key"):
        decision["key"] = key
    if kind == "edit":
        decision["args"] = _edited(value, request)
    message = value.get("message")
    if message is not None and not isinstance(message, str):
        raise InvalidInput(f"The message of a decision is a text; got {message!r}.")
    if kind == "respond" and not message:
        raise InvalidInput('A decision of type respond carries its text as "message".')
    if message:
        decision["message"] = message
    return decision


def _edited(value: Mapping[str, Any], request: ApprovalRequest) -> Arguments:
    action = value.get("edited_action", value)
    args = action.get("args") if isinstance(action, Mapping) else None
    if not isinstance(args, dict):
        raise InvalidInput(
            'A decision of type edit carries "edited_action": {"name": …, "args": {…}} with all arguments.'
        )
    name = action.get("name", request["name"])
    if name != request["name"]:
        raise InvalidInput(
            f"An edit may change the arguments of {request['name']}, not call {name!r} instead."
        )
    return args
