"""Review a risky answer before the customer sees it (F1 to F5). One call of this node is one round."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import structlog

from nodes.booking import Booking
from nodes.messages import new_id
from nodes.run import Run
from nodes.state import AgentState, Review

if TYPE_CHECKING:
    from nodes.review_round import ReviewRound

log = structlog.get_logger(__name__)


async def reflect(state: AgentState, run: Run) -> AgentState:
    """Have the draft reviewed once; the last round gives it, or what took its place, out as the answer."""
    from nodes.review_round import play_round, tell  # its patterns are for those who have answers reviewed

    draft = state["draft"]
    assert draft is not None, "the edge to here asks for a draft"
    before = state.get("review")
    started_at = before["started_at"] if before else time.time()
    ends_at = min(started_at + run.settings.steward_review_seconds, state["turn"]["deadline"])
    tell(state, run, "checking_again" if before else "checking")
    played = await play_round(state, run, draft.text, ends_at)
    review = _review(played, before["rounds"] + 1 if before else 1, started_at, ends_at, run)
    log.info(
        "draft reviewed", round=review["rounds"], verdict=review["verdict"], findings=len(review["findings"])
    )
    update: AgentState = {**_booked(state, run, played.bookings), "review": review}
    if not review["done"]:
        return {**update, "draft": draft.model_copy(update={"content": played.text})}
    tell(state, run, "done")
    # Under an id of its own: the draft's is kept out of the message streams, and this is to be seen.
    final = draft.model_copy(update={"content": played.text, "id": new_id("answer")})
    return {**update, "messages": [final], "answer": played.text, "draft": None}


def _review(played: ReviewRound, rounds: int, started_at: float, ends_at: float, run: Run) -> Review:
    settled = played.verdict in ("ORIGINAL_ANSWER", "failed", "corrected")
    return {
        "rounds": rounds,
        "verdict": played.verdict,
        "problems": list(played.problems),
        "findings": list(played.findings),
        "objection": played.objection,
        "started_at": started_at,
        "done": settled or rounds >= run.settings.steward_review_rounds or time.time() >= ends_at,
    }


def _booked(state: AgentState, run: Run, bookings: Sequence[Booking]) -> AgentState:
    update: AgentState = {}
    for booking in bookings:
        run.services.usage.add(state["turn"], run.thread_id, booking)
        update.update(booking.onto({**state, **update}))
        if booking.role == "chat":
            turn = update["turn"]
            update["turn"] = {**turn, "model_calls": turn["model_calls"] + 1}
    return update
