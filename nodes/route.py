"""Route: which kinds of request the customer's message carries, and what that offers the model (R1 to R8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage

from memory.errors import StewardError
from nodes.answers import RouterAnswer
from nodes.booking import Booking
from nodes.classifier import LocalRoute
from nodes.prompting import load_prompt
from nodes.routing import (
    answers_a_question,
    chosen_intent,
    is_follow_up,
    lead_by_priority,
    make_route,
    several_wishes,
)
from nodes.run import Run
from nodes.state import AgentState, RoutedIntent, RouteSource
from nodes.structured import ask_structured

log = structlog.get_logger(__name__)

CLASSIFIER_WEIGHT = 0.4
"""Of the classifier's probability beside the model's stated confidence, which small models always put at 0.9."""
SECOND_WISH = 0.5
"""Confidence from which a further intent counts as a wish of its own."""


@dataclass(frozen=True)
class Decision:
    """What the message was taken for, and why."""

    intents: Sequence[RoutedIntent]
    why: str
    request: str
    booking: Booking | None = None
    likely: Sequence[str] = ()
    """Intents that a question to the customer would offer, likeliest first."""


async def route(state: AgentState, run: Run) -> AgentState:
    """Classify the customer's message; the result travels in state and never as a message."""
    decision = await _decide(state, run)
    sure = max(intent["confidence"] for intent in decision.intents) >= run.settings.steward_clarify_below
    just_asked = state.get("clarification") is not None
    registry = run.services.engine.registry
    update: AgentState = {
        "route": make_route(
            lead_by_priority(decision.intents, run.business),
            run.business,
            registry.business_names,
            run.settings.steward_max_tools,
            decision.why,
            beside=registry.offered_by,
            likely=decision.likely,
            ask=not sure and not just_asked and run.settings.steward_clarify == "on",
            guess=not sure,
        ),
        "clarification": None,
    }
    if decision.request != state["turn"]["request"]:
        update["turn"] = {**state["turn"], "request": decision.request}
    if decision.booking:
        run.services.usage.add(state["turn"], run.thread_id, decision.booking)
        update.update(decision.booking.onto({**state, **update}))
    return update


async def _decide(state: AgentState, run: Run) -> Decision:
    text = state["turn"]["request"]
    if run.settings.steward_routing == "off":
        return Decision(_only(run.business.fallback, 1.0, "fallback"), "Routing is switched off.", text)
    if (asked := state.get("clarification")) and (name := chosen_intent(text, asked, run.business)):
        return Decision(
            _only(name, 1.0, "clarified"),
            f"The customer answered the question: {name}.",
            f"{asked['request']}\n{text}",
        )
    last = state.get("last_route", [])
    if last and is_follow_up(text):
        return _kept(last, text)
    local = await run.services.classifier.classify(text) if run.services.classifier else None
    if local and local.sure and not several_wishes(text):
        name, probability = local.intents[0]
        why = f"The local classifier is sure of {name} ({probability})."
        return Decision(_only(name, probability, "local"), why, text)
    if last and answers_a_question(text, _last_answer(state)):
        return _kept(last, text)
    return await _ask_model(state, run, text, local)


def _kept(last: Sequence[str], text: str) -> Decision:
    intents: list[RoutedIntent] = [{"name": n, "confidence": 1.0, "source": "follow_up"} for n in last]
    return Decision(intents, f"A follow-up keeps {', '.join(last)}.", text)


def _last_answer(state: AgentState) -> str:
    return next((str(m.text) for m in reversed(state["messages"]) if isinstance(m, AIMessage)), "")


def _only(name: str, confidence: float, source: RouteSource) -> list[RoutedIntent]:
    return [{"name": name, "confidence": confidence, "source": source}]


async def _ask_model(state: AgentState, run: Run, text: str, local: LocalRoute | None) -> Decision:
    prompt = _prompt(state, run, text)
    try:
        answer, reply = await ask_structured(
            run.services.models, "router", RouterAnswer, prompt, deadline=state["turn"]["deadline"]
        )
    except StewardError as error:
        log.warning("router failed; falling back", error=str(error), thread_id=run.thread_id)
        return Decision(_fallback(run, local), "The router model failed.", text)
    booking = Booking("route", "router", reply, {"instructions": 1.0})
    known = {intent.name for intent in run.business.intents}
    stated = [(i.name, i.confidence) for i in answer.intents if i.name in known]
    if not stated:
        log.warning("router named no known intent", answer=answer.model_dump(), thread_id=run.thread_id)
        return Decision(_fallback(run, None), "The router named no known intent.", text, booking)
    return replace(_weigh(stated, local, text), booking=booking)


def _weigh(stated: Sequence[tuple[str, float]], local: LocalRoute | None, text: str) -> Decision:
    """The model's intents, their confidence tempered by the classifier's; weak further ones are dropped."""
    tempered = [
        (name, confidence if local is None else _temper(confidence, local.probability(name)))
        for name, confidence in stated
    ]
    top = tempered[0][0]
    intents: list[RoutedIntent] = [
        {"name": name, "confidence": round(confidence, 4), "source": "model"}
        for (name, confidence), (_, said) in zip(tempered, stated, strict=True)
        if name == top or said >= SECOND_WISH
    ]
    said = ", ".join(f"{name} {confidence}" for name, confidence in stated)
    seen = f"; the classifier favours {local.intents[0][0]} ({local.intents[0][1]})" if local else ""
    likely = dict.fromkeys(
        [name for name, _ in stated] + [n for n, p in (local.intents if local else ()) if p > 0.1]
    )
    return Decision(intents, f"The router model said {said}{seen}.", text, likely=tuple(likely))


def _temper(stated: float, probability: float) -> float:
    return (1 - CLASSIFIER_WEIGHT) * stated + CLASSIFIER_WEIGHT * probability


def _fallback(run: Run, local: LocalRoute | None) -> list[RoutedIntent]:
    """The classifier's guess where it has a fair one, else the business's fallback intent."""
    if local and local.intents[0][1] >= SECOND_WISH:
        return _only(local.intents[0][0], local.intents[0][1], "local")
    return _only(run.business.fallback, 1.0, "fallback")


def _prompt(state: AgentState, run: Run, text: str) -> list[AnyMessage]:
    intents = "\n".join(f"- {intent.name}: {intent.description}" for intent in run.business.intents)
    humans = [m.text for m in state["messages"] if isinstance(m, HumanMessage)]
    before = f"<previous_message>\n{humans[-2]}\n</previous_message>\n" if len(humans) > 1 else ""
    system = load_prompt("router").format(business=run.business.name, intents=intents)
    return [SystemMessage(system), HumanMessage(f"{before}<message>\n{text}\n</message>")]
