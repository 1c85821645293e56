"""The summariser role: folds older messages or a finished session into a summary and key facts (M9)."""

from __future__ import annotations

import time

from langchain_core.messages import HumanMessage, SystemMessage

from memory.extraction import Summariser, SummariseRequest, Summary
from nodes.answers import SummariserAnswer
from nodes.booking import Booking
from nodes.models import Models
from nodes.prompting import load_prompt
from nodes.structured import ask_structured
from nodes.usage import UsageLedger

PATIENCE = 120.0
"""Seconds for one summary, all tries of the endpoint included; nobody waits for it."""


def make_summariser(models: Models, usage: UsageLedger) -> Summariser:
    """A summariser for the memory worker; it raises where the model fails, and nothing changes then."""

    async def summarise(request: SummariseRequest) -> Summary:
        text = (
            f"<earlier_summary>\n{request.earlier}\n</earlier_summary>\n"
            f"<conversation>\n{request.conversation}\n</conversation>"
        )
        prompt = [SystemMessage(load_prompt("summariser")), HumanMessage(text)]
        answer, reply = await ask_structured(
            models, "summariser", SummariserAnswer, prompt, deadline=time.time() + PATIENCE
        )
        booking = Booking("summarise", "summariser", reply, {"instructions": 1, "history": 3})
        await usage.book_now(request.user_id, request.thread_id, "", booking)
        return Summary(answer.summary, dict(answer.key_facts))

    return summarise
