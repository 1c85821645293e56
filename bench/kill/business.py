"""A small business whose tools leave a countable trace in the world, slow enough to be killed in the middle."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

from pydantic import Field

from nodes.business import Business, Intent
from tools.declare import tool
from tools.spec import Approval, Arguments, ToolContext

Item = Annotated[str, Field(description="What it is about, as the customer names it.")]

TAKE_EFFECT = """
INSERT INTO proof.effect (thread_id, tool, item, idempotency_key)
VALUES (%(thread)s, %(tool)s, %(item)s, %(key)s)
"""
FOUND = "SELECT item FROM proof.effect WHERE idempotency_key = %s"
PAUSE = 0.012
"""Seconds between the claim and the effect, and between the effect and its outcome."""
_beacon: int | None = None
"""Pipe to the parent, which wants to know when a side effect begins."""


def announce_effects_on(descriptor: int) -> None:
    """Write a byte to the pipe whenever a side effect begins."""
    global _beacon
    _beacon = descriptor


async def _take_effect(tool_name: str, item: str, context: ToolContext) -> dict[str, str]:
    if _beacon is not None:
        os.write(_beacon, b"e")
    await asyncio.sleep(PAUSE)
    params = {
        "thread": context.thread_id,
        "tool": tool_name,
        "item": item,
        "key": context.idempotency_key,
    }
    await context.database.execute(TAKE_EFFECT, params)
    await asyncio.sleep(PAUSE)
    return {"item": item, "state": "done"}


async def _found(key: str, args: Arguments, context: ToolContext) -> dict[str, str] | None:
    row = await context.database.fetch_one(FOUND, (key,))
    return {"item": row["item"], "state": "done"} if row else None


@tool()
async def look_up(context: ToolContext, item: Item) -> dict[str, str]:
    """Look an item up. Changes nothing."""
    await asyncio.sleep(PAUSE / 2)
    return {"item": item, "state": "known"}


@tool(effect="write")
async def book(context: ToolContext, item: Item) -> dict[str, str]:
    """Book an item. Nobody can tell afterwards whether a booking that was cut off took place."""
    return await _take_effect("book", item, context)


@tool(effect="write", settle=_found)
async def file_ticket(context: ToolContext, item: Item) -> dict[str, str]:
    """File a ticket about an item. Tickets can be found again by their key."""
    return await _take_effect("file_ticket", item, context)


@tool(effect="write", approval=Approval("customer", "It cannot be undone."))
async def cancel(context: ToolContext, item: Item) -> dict[str, str]:
    """Cancel an item, once the customer has said yes."""
    return await _take_effect("cancel", item, context)


@tool(effect="write", approval=Approval("staff", "It costs money."))
async def refund(context: ToolContext, item: Item) -> dict[str, str]:
    """Refund an item, once staff have said yes."""
    return await _take_effect("refund", item, context)


TOOLS = (look_up, book, file_ticket, cancel, refund)
NAMES = tuple(spec.name for spec in TOOLS)

BUSINESS = Business(
    name="proof",
    instructions="Serve the customer.",
    intents=[
        Intent("work", "Anything to be done.", priority=2, tools=NAMES, memory_domains=("work",)),
        Intent(
            "claim",
            "Complaints, whose answers are reviewed.",
            priority=3,
            tools=NAMES,
            review=True,
            checklist=("It names what was done.",),
            memory_domains=("work",),
        ),
        Intent("chat", "Anything else.", memory_domains=("work",)),
    ],
    tools=lambda settings: list(TOOLS),
    migrations=Path(__file__).parent / "migrations",
)
