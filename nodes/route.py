"""Route: which kinds of request the customer's message carries, and what that offers the model (R1 to R8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage

from nodes.ask_router import ask_router
from nodes.booking import Booking
from nodes.clarification_answer import chosen_intents
from nodes.classifier import LocalRoute
from nodes.follow_up import answers_a_question, consents, is_follow_up, leans_back, only_details
from nodes.routing import lead_by_priority, make_route
from nodes.run import Run
from nodes.state import AgentState, Clarification, RoutedIntent, RouteSource

MAYBE = 0.5
"""Probability from which the classifier's view keeps a message from being read as a follow-up."""


@dataclass(frozen=True)
class Decision:
    """What the message was taken for, and why."""

    intents: Sequence[RoutedIntent]
    why: str
    booking: Booking | None = None
    likely: Sequence[str] = ()
    """Intents that a question to the customer would offer, likeliest first."""


async def route(state: AgentState, run: Run) -> AgentState:
    """Classify the customer's message; the result travels in state and never as a message."""
    decision = await _decide(state, run)
    sure = max(intent["confidence"] for intent in decision.intents) >= run.settings.steward_clarify_below
    asked = state.get("clarification")
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
            ask=not sure and asked is None and run.settings.steward_clarify == "on",
            guess=not sure,
        ),
        "clarification": None,
    }
    if asked and _serves(decision.intents, asked):
        update["turn"] = {**state["turn"], "request": f"{asked['request']}\n{state['turn']['request']}"}
    if decision.booking:
        run.services.usage.add(state["turn"], run.thread_id, decision.booking)
        update.update(decision.booking.onto({**state, **update}))
    return update


def _serves(intents: Sequence[RoutedIntent], asked: Clarification) -> bool:
    """Whether an answer belongs to the request that was asked about; else the customer has changed the subject."""
    return any(i["source"] == "clarified" or i["name"] in asked["intents"] for i in intents)


async def _decide(state: AgentState, run: Run) -> Decision:
    """The cheapest way that settles it: the conversation itself, the local classifier, the router model."""
    text = state["turn"]["request"]
    if run.settings.steward_routing == "off":
        return Decision(_all([run.business.fallback], "fallback"), "Routing is switched off.")
    if (asked := state.get("clarification")) and (names := chosen_intents(text, asked, run.business)):
        return Decision(_all(names, "clarified"), f"The customer answered the question: {', '.join(names)}.")
    last = state.get("last_route", [])
    answer = _last_answer(state)
    if last and _leans_on(text, last, answer, run):
        return _kept(last)
    local = await run.services.classifier.classify(text) if run.services.classifier else None
    if local and local.decided:
        said = ", ".join(f"{name} ({probability})" for name, probability in local.decided)
        intents: list[RoutedIntent] = [
            {"name": name, "confidence": probability, "source": "local"}
            for name, probability in local.decided
        ]
        return Decision(intents, f"The local classifier is sure of {said}.")
    if last and (answers_a_question(text, answer) or _may_lean_on(text, last, local)):
        return _kept(last)
    weighed = await ask_router(state, run, text, local)
    return Decision(weighed.intents, weighed.why, weighed.booking, weighed.likely)


def _leans_on(text: str, last: Sequence[str], answer: str, run: Run) -> bool:
    """A message without a wish of its own. A bare number after small talk is the start of a request."""
    if only_details(text):
        return list(last) != [run.business.fallback]
    return is_follow_up(text) or consents(text, answer)


def _may_lean_on(text: str, last: Sequence[str], local: LocalRoute | None) -> bool:
    """A message that begins like a follow-up, and in which the classifier sees no other subject."""
    if local is None or not leans_back(text):
        return False
    name, probability = local.intents[0]
    return name in last or probability < MAYBE


def _kept(last: Sequence[str]) -> Decision:
    return Decision(_all(last, "follow_up"), f"A follow-up keeps {', '.join(last)}.")


def _all(names: Sequence[str], source: RouteSource) -> list[RoutedIntent]:
    return [{"name": name, "confidence": 1.0, "source": source} for name in names]


def _last_answer(state: AgentState) -> str:
    return next((str(m.text) for m in reversed(state["messages"]) if isinstance(m, AIMessage)), "")
