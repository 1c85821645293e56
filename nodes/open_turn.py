"""Open a turn: take the message in, mend what an interrupted turn left open, reset what belongs to one turn."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from memory.borrowed import without_copies
from memory.clean import clean_text
from memory.errors import InvalidInput
from memory.extraction import Exchange
from nodes.allowance import allowance_used_up
from nodes.closing import unclosed_turns
from nodes.context_groups import call_ids, open_calls
from nodes.execute_tools import settled_copy
from nodes.foreign_text import foreign_text
from nodes.messages import new_id
from nodes.run import Run
from nodes.scope import call_scope
from nodes.state import AgentState, Turn, Versions, fresh_turn
from nodes.texts import language_of, say
from nodes.turn_input import EXPECTED, MAX_CHARACTERS, NOT_TEXT, STAFF, kept_text
from tools.approval import ApprovalRequest
from tools.calls import Envelope
from tools.envelope import render


async def open_turn(state: AgentState, run: Run) -> AgentState:
    """Check the customer's message and open its turn; a message that cannot be served is answered here.

    In a thread that was handed over the agent is silent: what the customer writes stands there for the colleague,
    and what the colleague writes stands as an answer.
    """
    messages = state.get("messages", [])
    message = _latest(messages)
    text, whole = kept_text(message.text)
    turn = turn_frame(state, run)
    update: AgentState = {**fresh_turn(), "turn": turn}
    changes = _cleaned(messages, turn["message_id"])
    waiting = state.get("approvals", [])
    mended, begun = await _mend(messages, waiting, turn, run)
    changes.extend(mended)
    update["approvals"] = [
        request for request in waiting if request["by"] == "staff" and request["call_id"] not in begun
    ]
    update["decisions"] = {}
    if state.get("handoff"):
        if run.context.role == "staff":
            changes.append(AIMessage(text, id=turn["message_id"], name=STAFF))
        return {**update, "messages": changes, "answer": ""}
    await _remember_unclosed(state, turn, run)
    reply = _unservable(message, text, whole, turn["locale"])
    if reply is None and await allowance_used_up(run):
        reply = say("out_of_budget", turn["locale"])
    if reply:
        changes.append(AIMessage(reply, id=new_id("answer")))
        update["answer"] = reply
    if changes:
        update["messages"] = changes
    return update


def _latest(messages: Sequence[AnyMessage]) -> HumanMessage:
    if not messages or not isinstance(messages[-1], HumanMessage):
        raise InvalidInput(EXPECTED)
    return messages[-1]


def _cleaned(messages: Sequence[AnyMessage], latest_id: str) -> list[AnyMessage]:
    """The customer's new messages as they are kept, where that is not as they came."""
    changes: list[AnyMessage] = []
    for message in reversed(messages):
        if not isinstance(message, HumanMessage):
            break
        text, _ = kept_text(message.text)
        if text != message.text or message.id is None or not isinstance(message.content, str):
            id = message.id or latest_id
            changes.insert(0, HumanMessage(text, id=id, additional_kwargs=_kept(message)))
    return changes


async def _remember_unclosed(state: AgentState, turn: Turn, run: Run) -> None:
    """Queue what was said in turns that were cut off before they had queued it themselves."""
    if run.settings.steward_long_term_memory != "on":
        return
    last = state.get("turn")
    cut_off = unclosed_turns(state["messages"], state.get("closed"), turn["message_id"])
    foreign = foreign_text(state["messages"]) if cut_off else ()
    for unclosed in cut_off:
        own = last is not None and last["message_id"] == unclosed.message_id
        said_at = datetime.fromisoformat(last["started_at"]) if own and last else run.now()
        await run.services.queue.enqueue_turn(
            Exchange(
                user_id=last["user_id"] if own and last else turn["user_id"],
                thread_id=run.thread_id,
                turn_id=_turn_id(unclosed.message_id),
                message_id=unclosed.message_id,
                customer=clean_text(unclosed.customer),
                answer=without_copies(unclosed.answer, [unclosed.customer], foreign),
                said_at=said_at,
                timezone=turn["timezone"],
                locale=turn["locale"],
                foreign=foreign,
            )
        )


def next_turn_id(state: AgentState) -> str:
    """Of the turn that the latest message begins. Raises InvalidInput."""
    return _turn_id(_latest(state.get("messages", [])).id or "")


def _turn_id(message_id: str) -> str:
    return f"turn-{message_id}"


def turn_frame(state: AgentState, run: Run) -> Turn:
    """The frame of the turn that the latest message begins; `state` still has the last one's. Raises InvalidInput."""
    message, last = _latest(state.get("messages", [])), state.get("turn")
    text, _ = kept_text(message.text)
    now = run.now()
    context = run.context
    message_id = message.id or new_id("message")
    return {
        "id": _turn_id(message_id),
        "message_id": message_id,
        "thread_id": run.thread_id,
        "started_at": now.isoformat(),
        "deadline": _unix() + run.settings.steward_turn_seconds,
        # What a colleague writes into a thread leaves it the customer's.
        "user_id": last["user_id"] if last and context.role == "staff" else context.user_id,
        "locale": context.locale or language_of(text, last["locale"] if last else None),
        "timezone": context.timezone or run.settings.steward_timezone,
        "request": text,
        "model_calls": 0,
        "tool_calls": 0,
        "tokens": 0,
        "versions": _versions(run),
    }


def _versions(run: Run) -> Versions:
    served = run.services.served.with_models(run.services.models)
    overrides = run.context.versions()
    return {**served, "overrides": overrides} if overrides else served


def _unix() -> float:
    # The wall-clock budget runs on the real clock, also where a test sets the context's.
    return datetime.now().astimezone().timestamp()


def _kept(message: HumanMessage) -> dict[str, object]:
    return {"note": NOT_TEXT} if _had_other_parts(message) else {}


def _had_other_parts(message: HumanMessage) -> bool:
    return not isinstance(message.content, str) or message.additional_kwargs.get("note") == NOT_TEXT


def _unservable(message: HumanMessage, text: str, whole: bool, locale: str) -> str | None:
    if not whole:
        return say("too_long", locale, limit=MAX_CHARACTERS)
    if text.strip():
        return None
    return say("not_text" if _had_other_parts(message) else "empty_message", locale)


async def _mend(
    messages: Sequence[AnyMessage], waiting: Sequence[ApprovalRequest], turn: Turn, run: Run
) -> tuple[list[AnyMessage], set[str]]:
    """A result for every call that an earlier turn left without one; and the calls whose approval waits no more.

    Where a run died with a decision that was not stored yet, the ledger alone knows that its call has begun: decided
    a second time it would happen a second time.
    """
    scope, engine = call_scope(turn, run), run.services.engine
    by_call = {request["call_id"]: request for request in waiting}
    mended: list[AnyMessage] = []
    begun: set[str] = set()
    for message in open_calls(messages):
        recorded = await engine.recorded(message, scope)
        begun.update(recorded)
        for id in call_ids(message):
            if _answered(messages, id):
                continue
            envelope = recorded.get(id) or _unanswered(by_call.get(id))
            mended.append(ToolMessage(render(envelope), tool_call_id=id, id=new_id("result")))
    for request in waiting:
        copy = settled_copy(request)
        for id, envelope in (await engine.recorded(copy, scope)).items():
            begun.add(request["call_id"])
            if not _answered(messages, id):
                mended += [copy, ToolMessage(render(envelope), tool_call_id=id, id=new_id("result"))]
    return mended, begun


def _answered(messages: Sequence[AnyMessage], id: str) -> bool:
    return any(isinstance(m, ToolMessage) and m.tool_call_id == id for m in messages)


def _unanswered(request: ApprovalRequest | None) -> Envelope:
    if request is None:
        text = "The turn was interrupted before this call had a result; it did not run."
        return {"status": "error", "error_kind": "cancelled", "error_desc": text, "retryable": True}
    if request["by"] == "staff":
        text = "This call waits for approval by staff; nothing has happened yet. Do not call it again."
        return {"status": "ok", "data": {"state": "waiting_for_staff_approval", "note": text}}
    text = "The customer wrote something else instead of approving; the call did not run."
    return {"status": "error", "error_kind": "cancelled", "error_desc": text, "retryable": False}
