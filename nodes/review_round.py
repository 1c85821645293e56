"""One round of a review: one reviewer call, and one correction where it leaves a draft that must not go out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nodes.answers import ReviewerAnswer
from nodes.booking import Booking
from nodes.checks import Checked, Checker, Sources, corrects, hard_faults, objection
from nodes.review_calls import ask_correction, ask_reviewer
from nodes.review_prompt import correction_prompt, reviewer_prompt
from nodes.review_sources import review_sources
from nodes.run import Run
from nodes.state import AgentState, ReviewVerdict
from nodes.texts import language_of, say

REVIEWER_SHARE = 0.6
"""Of the time left, where the draft has a hard fault: the rest is kept for correcting it, should the reviewer fail."""


@dataclass(frozen=True)
class ReviewRound:
    """What one round came to. `text` is the draft, to the letter, or what takes its place."""

    text: str
    verdict: ReviewVerdict
    findings: Sequence[str]
    problems: Sequence[str] = ()
    objection: str = ""
    bookings: Sequence[Booking] = ()


async def play_round(state: AgentState, run: Run, draft: str, ends_at: float) -> ReviewRound:
    """Review the draft once. `ends_at`: Unix seconds at which the whole review has to be over."""
    sources = review_sources(state, run)
    checker = await asyncio.to_thread(Checker, sources)
    checked = await asyncio.to_thread(checker.check, draft)
    case = _Case(state, run, draft, sources, checker, checked)
    now = time.time()
    share = REVIEWER_SHARE if hard_faults(checked.faults) else 1.0
    review = state.get("review")
    prompt = reviewer_prompt(state, run, sources, checked.faults, review["objection"] if review else "")
    answer, booking = await ask_reviewer(run, prompt, now + share * (ends_at - now))
    bookings = [booking] if booking else []
    if answer is None:
        return await _corrected(case, ReviewRound(draft, "failed", case.findings, bookings=bookings), ends_at)
    judged = await _judged(case, answer, bookings)
    is_last = (review["rounds"] if review else 0) + 1 >= run.settings.steward_review_rounds
    if judged.verdict == "refused" and is_last:
        return await _corrected(case, judged, ends_at)
    return judged


@dataclass(frozen=True)
class _Case:
    state: AgentState
    run: Run
    draft: str
    sources: Sources
    checker: Checker
    checked: Checked

    @property
    def findings(self) -> list[str]:
        return [fault.text for fault in self.checked.faults]

    def changes_language(self, text: str) -> bool:
        """The draft is in the customer's language, and the text is not."""
        wanted = "zh" if self.state["turn"]["locale"].startswith("zh") else "en"
        return language_of(self.draft) == wanted != language_of(text)


async def _judged(case: _Case, answer: ReviewerAnswer, bookings: Sequence[Booking]) -> ReviewRound:
    revision = answer.answer or ""
    if answer.verdict == "ORIGINAL_ANSWER" or revision == case.draft.strip():
        return ReviewRound(case.draft, "ORIGINAL_ANSWER", case.findings, answer.problems, bookings=bookings)
    revised = await asyncio.to_thread(case.checker.check, revision)
    against = objection(case.checked, revised, answer.problems, case.sources.vocabulary)
    if case.changes_language(revision):
        against = "It is not in the customer's language."
    if against:
        return ReviewRound(case.draft, "refused", case.findings, answer.problems, against, bookings)
    return ReviewRound(revision, "REVISED", case.findings, answer.problems, bookings=bookings)


async def _corrected(case: _Case, kept: ReviewRound, ends_at: float) -> ReviewRound:
    """No reviewer will mend the draft any more: where it has a hard fault the chat model corrects it, if it can."""
    faults = hard_faults(case.checked.faults)
    if not faults:
        return kept
    tell(case.state, case.run, "correcting")
    prompt = correction_prompt(case.state, case.run, case.sources, faults)
    text, booking = await ask_correction(case.run, prompt, ends_at)
    if booking:
        kept = replace(kept, bookings=[*kept.bookings, booking])
    if text is None or case.changes_language(text):
        return kept
    corrected = await asyncio.to_thread(case.checker.check, text)
    if not corrects(case.checked, corrected, case.sources.vocabulary):
        return kept
    return replace(kept, text=text, verdict="corrected")


def tell(state: AgentState, run: Run, phase: str) -> None:
    """Progress for the customer, who does not see the draft."""
    text = say(f"review_{phase}", state["turn"]["locale"])
    run.emit({"type": "review", "phase": phase, "text": text})
