"""The extractor role: reads a finished exchange, returns what is worth remembering (M4)."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from zoneinfo import ZoneInfo

from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel

from memory.extraction import Exchange, Extractor, KnownMemory, MemoryItem
from nodes.answers import ExtractorAnswer
from nodes.background import data
from nodes.booking import Booking
from nodes.business import Business
from nodes.models import Models
from nodes.prompting import fill, load_prompt
from nodes.structured import ask_structured
from nodes.usage import UsageLedger

PATIENCE = 120.0
"""Seconds for one extraction, all tries of the endpoint included; nobody waits for it."""


def make_extractor(models: Models, business: Business, usage: UsageLedger) -> Extractor:
    """An extractor for the memory worker; it raises where the model fails, so that the job is tried again."""
    domains = sorted(
        {domain for intent in business.intents for domain in intent.memory_domains} | {"general"}
    )
    system = fill(load_prompt("extractor"), business=business.name, domains=", ".join(domains))

    async def extract(exchange: Exchange, known: Sequence[KnownMemory]) -> list[MemoryItem]:
        prompt = [SystemMessage(system), HumanMessage(_exchange_text(exchange, known))]
        answer, reply = await ask_structured(
            models, "extractor", ExtractorAnswer, prompt, deadline=time.time() + PATIENCE
        )
        booking = Booking("extract", "extractor", reply, {"instructions": 1, "history": 1})
        await usage.book_now(exchange.user_id, exchange.thread_id, exchange.turn_id, booking)
        return [_item(item, domains) for item in answer.memories]

    return extract


def _item(item: BaseModel, domains: Collection[str]) -> MemoryItem:
    """The item with labels that the business knows; others would be words of the model's own."""
    found = MemoryItem.model_validate(item.model_dump())
    known = [label for domain in found.domains if (label := domain.strip().lower()) in domains]
    return found.model_copy(update={"domains": known})


def _exchange_text(exchange: Exchange, known: Sequence[KnownMemory]) -> str:
    local = exchange.said_at.astimezone(ZoneInfo(exchange.timezone))
    lines = "\n".join(f"- {memory.key}: {data(memory.content)}" for memory in known) or "(none)"
    confirmed = "\n".join(f"- {data(fact)}" for fact in exchange.confirmed) or "(nothing)"
    about = f"; about: {data(', '.join(exchange.about))}" if exchange.about else ""
    return (
        f"Said at {local:%Y-%m-%d %H:%M %Z} ({local:%A}); "
        f"kinds of request: {', '.join(exchange.intents) or 'none'}{about}.\n"
        f"<known_keys>\n{lines}\n</known_keys>\n"
        f"<confirmed_by_tools>\n{confirmed}\n</confirmed_by_tools>\n"
        f"<customer_message>\n{exchange.customer}\n</customer_message>\n"
        f"<answer>\n{exchange.answer}\n</answer>"
    )
