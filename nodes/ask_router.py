"""Ask the router model, and weigh what it states against the local classifier (R1, R8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import structlog
from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage

from memory.errors import StewardError
from nodes.answers import RouterAnswer
from nodes.booking import Booking
from nodes.classifier import LocalRoute
from nodes.endpoint import ModelReply
from nodes.prompting import fill
from nodes.run import Run
from nodes.state import AgentState, RoutedIntent
from nodes.structured import StructuredFailure, ask_structured

log = structlog.get_logger(__name__)

CLASSIFIER_WEIGHT = 0.4
"""Of the classifier's probability beside the model's stated confidence, which small models always put at 0.9."""
SECOND_WISH = 0.5
"""Stated confidence from which a further intent counts as a wish of its own."""
LIKELY = 0.1
"""Probability from which a question to the customer may offer an intent that the model has not named."""


@dataclass(frozen=True)
class Weighed:
    """What the router model and the classifier say together."""

    intents: Sequence[RoutedIntent]
    why: str
    likely: Sequence[str] = ()
    """Intents that a question to the customer would offer, likeliest first."""
    booking: Booking | None = None


async def ask_router(state: AgentState, run: Run, text: str, local: LocalRoute | None) -> Weighed:
    """The model's intents for a message; the business's fallback intent where it gives none that can be read."""
    try:
        answer, reply = await ask_structured(
            run.services.models,
            "router",
            RouterAnswer,
            _prompt(state, run, text),
            deadline=state["turn"]["deadline"],
        )
    except StewardError as error:
        log.warning("router failed; falling back", error=str(error), thread_id=run.thread_id)
        spent = _booking(error.reply) if isinstance(error, StructuredFailure) else None
        return Weighed(_fallback(run), "The router model failed.", booking=spent)
    known = {intent.name for intent in run.business.intents}
    stated: dict[str, float] = {}
    for intent in answer.intents:
        if intent.name in known:
            stated.setdefault(intent.name, intent.confidence)
    if not stated:
        log.warning("router named no known intent", answer=answer.model_dump(), thread_id=run.thread_id)
        return Weighed(_fallback(run), "The router named no known intent.", booking=_booking(reply))
    intents, likely = weigh(list(stated.items()), local)
    return Weighed(intents, _why(stated, local), likely, _booking(reply))


def weigh(
    stated: Sequence[tuple[str, float]], local: LocalRoute | None
) -> tuple[list[RoutedIntent], list[str]]:
    """The model's intents with confidences tempered by the classifier's, and what a question would offer.

    Without a classifier the stated confidence stands as it is. Weak further intents are dropped.
    """
    tempered = {name: temper(said, local.probability(name)) if local else said for name, said in stated}
    leader = stated[0][0]
    intents: list[RoutedIntent] = [
        {"name": name, "confidence": round(tempered[name], 4), "source": "model"}
        for name, said in stated
        if name == leader or said >= SECOND_WISH
    ]
    for name, probability in local.intents if local else ():
        if probability >= LIKELY:
            tempered.setdefault(name, temper(0.0, probability))
    return intents, sorted(tempered, key=lambda name: -tempered[name])


def temper(stated: float, probability: float) -> float:
    """A model's stated confidence and a classifier's probability as one number."""
    return (1 - CLASSIFIER_WEIGHT) * stated + CLASSIFIER_WEIGHT * probability


def _why(stated: Mapping[str, float], local: LocalRoute | None) -> str:
    said = ", ".join(f"{name} {confidence}" for name, confidence in stated.items())
    seen = f"; the classifier favours {local.intents[0][0]} ({local.intents[0][1]})" if local else ""
    return f"The router model said {said}{seen}."


def _booking(reply: ModelReply) -> Booking:
    return Booking("route", "router", reply, {"instructions": 1.0})


def _fallback(run: Run) -> list[RoutedIntent]:
    return [{"name": run.business.fallback, "confidence": 1.0, "source": "fallback"}]


def _prompt(state: AgentState, run: Run, text: str) -> list[AnyMessage]:
    intents = "\n".join(f"- {intent.name}: {intent.description}" for intent in run.business.intents)
    humans = [m.text for m in state["messages"] if isinstance(m, HumanMessage)]
    before = f"<previous_message>\n{humans[-2]}\n</previous_message>\n" if len(humans) > 1 else ""
    system = fill(run.prompt("router"), business=run.business.name, intents=intents)
    return [SystemMessage(system), HumanMessage(f"{before}<message>\n{text}\n</message>")]
