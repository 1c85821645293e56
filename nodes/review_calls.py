"""The model calls of a review. One that fails never costs the customer the draft: it comes back as None."""

from __future__ import annotations

import structlog

from memory.errors import StewardError
from nodes.answers import ReviewerAnswer
from nodes.booking import Booking
from nodes.endpoint import ask
from nodes.review_prompt import ReviewPrompt
from nodes.run import Run
from nodes.structured import StructuredFailure, ask_structured
from tools.text_calls import without_calls

log = structlog.get_logger(__name__)

KEEP = "ORIGINAL_ANSWER"


async def ask_reviewer(
    run: Run, prompt: ReviewPrompt, deadline: float
) -> tuple[ReviewerAnswer | None, Booking | None]:
    """The reviewer's answer, and what it cost. `deadline` in Unix seconds."""
    try:
        answer, reply = await ask_structured(
            run.services.models, "reviewer", ReviewerAnswer, prompt.messages, deadline=deadline
        )
    except StructuredFailure as error:
        log.warning("reviewer answered nonsense", error=str(error))
        return None, Booking("reflect", "reviewer", error.reply, prompt.tokens)
    except StewardError as error:
        log.warning("reviewer failed", error=str(error))
        return None, None
    booking = Booking("reflect", "reviewer", reply, prompt.tokens)
    if answer.verdict == "REVISED":
        text = _sendable(run, answer.answer or "")
        if not text:
            log.warning("reviewer gave no answer that could be sent", answer=answer.model_dump())
            return None, booking
        answer = answer.model_copy(update={"answer": text})
    return answer, booking


async def ask_correction(
    run: Run, prompt: ReviewPrompt, deadline: float
) -> tuple[str | None, Booking | None]:
    """A corrected draft by the chat model, and what it cost."""
    try:
        reply = await ask(run.services.models, "chat", prompt.messages, deadline=deadline)
    except StewardError as error:
        log.warning("correction failed", error=str(error))
        return None, None
    text = _sendable(run, reply.message.text)
    return text or None, Booking("reflect", "chat", reply, prompt.tokens)


def _sendable(run: Run, text: str) -> str:
    """What of the text a customer may see; nothing of one that speaks to the program instead of the customer."""
    registry = run.services.engine.registry
    shown = without_calls(text, registry, registry.business_names).strip()
    return "" if KEEP in shown else shown
