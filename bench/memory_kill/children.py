"""What the processes under test do: serve turns through the graph, or work on the memory queue."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import HumanMessage

from bench.kill.business import BUSINESS
from bench.kill.case import ACCEPTED
from bench.kill.script import script as answers
from bench.kill.script import wish
from graph.holder import open_services
from graph.open import Agent, open_agent
from graph.settings import Settings
from graph.worker import make_worker
from nodes.context import AgentContext
from tests.support.model_replies import Reply, Request
from tests.support.model_server import role_of

THREADS = 24
USERS = 12
LONGEST_EXTRACTION = 0.05
"""Seconds that the extractor takes at most, so that kills find jobs in the middle."""


def script(request: Request) -> Reply:
    """The model endpoint: every turn names one thing to remember."""
    reply = answers(request)
    slow = role_of(request) == "extractor"
    return replace(reply, delay=random.uniform(0, LONGEST_EXTRACTION)) if slow else reply


def message_id(number: int) -> str:
    """Id of the customer's message of that turn."""
    return f"message-{number}-end"


def serve(settings: Settings, numbers: Sequence[int], go_on: bool, beacon: int) -> None:
    """Serve turns one after the other; writes `r` once the agent is open and `t` at the end of each turn.

    The first one may have been cut off before. With `go_on` it is then left to the thread's next message.
    """

    async def turns() -> None:
        async with open_agent(settings, BUSINESS) as agent:
            os.write(beacon, b"r")
            for index, number in enumerate(numbers):
                await _have_served(agent, number, go_on=go_on and index == 0)
                os.write(beacon, b"t")
            await agent.services.usage.flush()

    asyncio.run(turns())


def work(settings: Settings, beacon: int) -> None:
    """Run the memory jobs until killed; writes `r` once it begins."""

    async def jobs() -> None:
        async with open_services(settings, BUSINESS) as services:
            worker = make_worker(services)
            os.write(beacon, b"r")
            await worker.run()

    asyncio.run(jobs())


async def _have_served(agent: Agent, number: int, *, go_on: bool) -> None:
    thread_id = f"thread-{number % THREADS}"
    config: Any = {"configurable": {"thread_id": thread_id}}
    context = AgentContext(user_id=f"customer-{number % USERS}", locale="en")
    asked = {"thread": thread_id, "id": message_id(number).encode()}
    row = await agent.services.database.fetch_one(ACCEPTED, asked)
    if row is None or not row["accepted"]:
        message = HumanMessage(wish("memory", number), id=message_id(number))
        await agent.graph.ainvoke({"messages": [message]}, config, context=context)
    elif not go_on and (await agent.graph.aget_state(config)).tasks:
        await agent.graph.ainvoke(None, config, context=context)
