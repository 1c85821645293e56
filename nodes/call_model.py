"""Call the chat model with the assembled context: it answers, or names the tools it needs."""

from __future__ import annotations

import structlog
from langchain_core.messages import AIMessage, AnyMessage

from memory.tokens import CALIBRATION, cut
from nodes.answer_stream import AnswerStream, withhold
from nodes.assemble_context import system_text
from nodes.booking import Booking
from nodes.context_groups import call_ids
from nodes.context_render import render_context
from nodes.endpoint import ContextOverflow, ModelReply, ModelUnavailable, ask
from nodes.messages import new_id
from nodes.run import Run
from nodes.state import AgentState, ContextPlan
from nodes.texts import say
from tools.reading import read_calls
from tools.text_calls import TextCallGuard, read_text_calls, without_calls

log = structlog.get_logger(__name__)


async def call_model(state: AgentState, run: Run) -> AgentState:
    """One call of the chat model; its answer goes to the messages, or to the draft where it will be reviewed."""
    plan = state["context"]
    assert plan is not None, "the edge to here asks for a plan"
    message_id = new_id("answer")
    stream = _stream(run, plan, message_id)
    reviewed = will_review(state, run)
    try:
        reply = await _ask(state, run, plan, None if reviewed else stream, message_id)
    except ContextOverflow as error:
        if not plan["tight"]:
            log.warning("context overflow; assembling tighter", thread_id=run.thread_id)
            return {"context": {**plan, "tight": True}}
        return _apology(state, run, message_id, error)
    except ModelUnavailable as error:
        return _apology(state, run, message_id, error)
    message = _read(state, run, plan, reply, stream.message_id)
    if call_ids(message) or (reviewed and message.text.strip()):
        withhold(run.config, [stream.message_id])
    if not reviewed:
        stream.finish(has_calls=bool(call_ids(message)))
    return _update(state, run, plan, reply, message)


def will_review(state: AgentState, run: Run) -> bool:
    """Whether the answer of this turn is reviewed before the customer sees it."""
    route = state.get("route")
    stopped = state.get("stopped_because")
    return bool(route and route["review"] and run.settings.steward_review == "on" and not stopped)


def _stream(run: Run, plan: ContextPlan, message_id: str) -> AnswerStream:
    """Shows the answer while it is written; text that may yet be a call is held back."""
    registry = run.services.engine.registry
    return AnswerStream(run.config, message_id, run.emit, lambda: TextCallGuard(registry, plan["tools"]))


async def _ask(
    state: AgentState, run: Run, plan: ContextPlan, stream: AnswerStream | None, message_id: str
) -> ModelReply:
    model = run.settings.model_name("chat")
    prompt = render_context(
        plan, system_text(run), state["messages"], lambda text, tokens: cut(text, tokens, model)
    )
    strict = run.settings.steward_strict_tools == "on"
    tools = run.services.engine.registry.schemas(plan["tools"], strict=strict)
    return await ask(
        run.services.models,
        "chat",
        prompt,
        tools=tools or None,
        deadline=state["turn"]["deadline"],
        on_text=stream if stream and stream.listening else None,
        message_id=message_id,
    )


def _read(state: AgentState, run: Run, plan: ContextPlan, reply: ModelReply, message_id: str) -> AIMessage:
    """The model's message with every call readable or marked unreadable, ids unique in the thread."""
    registry, offered = run.services.engine.registry, plan["tools"]
    known = {id for m in state["messages"] if m.type == "ai" for id in call_ids(m)}
    message = read_calls(reply.message, known, registry, offered)
    if not call_ids(message):
        message = read_text_calls(message, registry, offered) or message
    if not offered:
        message = AIMessage(
            without_calls(message.text, registry, [*registry.business_names, *registry.engine_names])
        )
    return message.model_copy(update={"id": message_id})


def _update(
    state: AgentState, run: Run, plan: ContextPlan, reply: ModelReply, message: AIMessage
) -> AgentState:
    booking = Booking("call_model", "chat", reply, plan["tokens"])
    if not reply.usage.estimated:
        CALIBRATION.observe(
            reply.model, estimated=sum(plan["tokens"].values()), reported=reply.usage.prompt_tokens
        )
    run.services.usage.add(state["turn"], run.thread_id, booking)
    update = booking.onto(state)
    update["turn"] = {**update["turn"], "model_calls": state["turn"]["model_calls"] + 1}
    if call_ids(message):
        return {**update, "messages": [message]}
    answer = message.text.strip()
    if not answer:
        message = _said(say("empty_answer", state["turn"]["locale"]), message)
    if will_review(state, run) and answer:
        return {**update, "draft": message}
    return {**update, "messages": [message], "answer": message.text}


def _said(text: str, message: AnyMessage) -> AIMessage:
    return AIMessage(text, id=message.id)


def _apology(state: AgentState, run: Run, message_id: str, error: Exception) -> AgentState:
    """The endpoint is of no use just now: a polite answer, and a thread that can go on."""
    log.error("model unavailable", error=str(error), thread_id=run.thread_id, turn_id=state["turn"]["id"])
    text = say("model_unavailable", state["turn"]["locale"])
    return {
        "messages": [AIMessage(text, id=message_id)],
        "answer": text,
        "stopped_because": "model_unavailable",
    }
