"""What a process under test does: open the agent on the shared database and serve turns, until it is killed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any, Literal

from langchain_core.messages import HumanMessage
from langgraph.types import Command

from bench.kill.business import BUSINESS, announce_effects_on
from bench.kill.case import Case
from bench.kill.script import wish
from graph.open import Agent, open_agent
from graph.settings import Settings
from nodes.context import AgentContext

Phase = Literal["begin", "finish"]


def serve(case: Case, phase: Phase, settings: Settings, beacon: int) -> None:
    """Serve the phase. Writes `r` to the beacon when the agent is open, `e` at each effect, `d` when done."""
    announce_effects_on(beacon)
    asyncio.run(_serve(case, phase, settings, lambda mark: os.write(beacon, mark)))


async def _serve(case: Case, phase: Phase, settings: Settings, tell: Callable[[bytes], object]) -> None:
    async with open_agent(settings, BUSINESS) as agent:
        customer = Customer(agent, case)
        tell(b"r")
        if phase == "begin":
            await customer.have_served(1, case.kind)
            if case.kind == "memory":
                await agent.worker.drain(timeout=5, turn_id=f"turn-{case.message_id(1)}")
        else:
            if case.taken_up == "resume":
                await customer.have_served(1, case.kind)
            await customer.have_served(2, "next")
        await agent.services.usage.flush()
        tell(b"d")


class Customer:
    """Brings the thread forward from wherever it stands, as a client does that knows its own messages."""

    def __init__(self, agent: Agent, case: Case) -> None:
        self._agent = agent
        self._case = case
        self._config: Any = {"configurable": {"thread_id": case.thread_id}}

    async def have_served(self, turn: int, kind: str) -> None:
        """Send the message unless the thread has it; then go on until nothing waits."""
        message_id = self._case.message_id(turn)
        state = await self._state()
        if not _holds(state.values, message_id) and not (turn == 1 and state.tasks):
            message = HumanMessage(wish(kind, self._case.number), id=message_id)
            await self._run({"messages": [message]})
        elif (
            state.tasks and not state.interrupts
        ):  # `next` leaves out what has ended but is not checkpointed yet
            await self._run(None)
        while (state := await self._state()).interrupts:
            await self._decide(state.values["approvals"])

    async def _decide(self, requests: list[Any]) -> None:
        by: Literal["customer", "staff"] = "staff"
        if self._case.staff_apart and any(request["by"] == "customer" for request in requests):
            by = "customer"
        own = [request for request in requests if by == "staff" or request["by"] == by]
        decisions = {request["call_id"]: {"type": "approve"} for request in own}
        await self._run(Command(resume={"decisions": decisions}), by)

    async def _run(self, given: Any, role: Literal["customer", "staff"] = "customer") -> None:
        context = AgentContext(user_id=self._case.user_id, role=role, locale="en")
        await self._agent.graph.ainvoke(given, self._config, context=context)

    async def _state(self) -> Any:
        return await self._agent.graph.aget_state(self._config)


def _holds(values: Any, message_id: str) -> bool:
    return any(message.id == message_id for message in values.get("messages", []))
