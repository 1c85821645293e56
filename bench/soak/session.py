"""One customer of the soak: writes, decides, double-clicks, and sends a message again until its turn has ended."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.types import Command

from bench.kill.case import KINDS
from bench.kill.script import answer, wish
from graph.open import Agent
from memory.errors import StewardError
from nodes.context import AgentContext

TURNS_OF_A_THREAD = 12
NUMBERS_OF_A_SESSION = 1_000_000
TWICE = 0.05
"""Share of messages that are sent twice at the same time."""
PAUSE = 0.3
"""Seconds before a message is sent again."""
LONGEST = 120.0
"""Seconds after which a turn that has not ended is a fault."""


@dataclass
class Told:
    """How the turns of all sessions ended."""

    turns: Counter[str] = field(default_factory=Counter)
    """`answered`, or why the turn was stopped with an apology."""
    sent_again: Counter[str] = field(default_factory=Counter)
    """Errors after which a message was sent again."""
    faults: list[str] = field(default_factory=list)
    slowest: float = 0.0


@dataclass
class Session:
    """A customer with one thread after another."""

    agent: Agent
    number: int
    seed: int
    told: Told
    sent: dict[str, list[int]] = field(default_factory=dict)
    """Numbers of the messages, by thread."""
    remembered: list[int] = field(default_factory=list)
    """Messages that were answered and told something to remember."""

    @property
    def user_id(self) -> str:
        return f"customer-{self.number}"

    async def until(self, end: float) -> None:
        """Turn after turn until that moment (monotonic seconds)."""
        chance = Random(f"{self.seed}/{self.number}")
        for turn in range(NUMBERS_OF_A_SESSION):
            if time.monotonic() >= end:
                return
            number = self.number * NUMBERS_OF_A_SESSION + turn
            thread_id = f"soak-{self.number}-{turn // TURNS_OF_A_THREAD}"
            kind = chance.choice([*KINDS, "next"])
            self.sent.setdefault(thread_id, []).append(number)
            began = time.monotonic()
            await self._turn(thread_id, kind, number, twice=chance.random() < TWICE)
            self.told.slowest = max(self.told.slowest, time.monotonic() - began)

    async def _turn(self, thread_id: str, kind: str, number: int, *, twice: bool) -> None:
        message = {"messages": [HumanMessage(wish(kind, number), id=f"message-{number}")]}
        given: Any = message
        end = time.monotonic() + LONGEST
        while time.monotonic() < end:
            try:
                state = await self._run(thread_id, given, twice=twice and given is message)
            except StewardError as error:
                self.told.sent_again[type(error).__name__] += 1
                given = message
                await asyncio.sleep(PAUSE)
                continue
            except Exception as error:  # whoever wrote this has not been told anything of use
                self.told.faults.append(f"message {number}: {type(error).__name__}: {str(error)[:200]}")
                given = message
                await asyncio.sleep(PAUSE)
                continue
            if not state.get("__interrupt__"):
                self._ended(state, kind, number)
                return
            given = Command(resume={"decisions": _approved(state["approvals"])})
        self.told.faults.append(f"message {number}: its turn has not ended in {LONGEST:.0f} s")

    async def _run(self, thread_id: str, given: Any, *, twice: bool) -> dict[str, Any]:
        role = "staff" if isinstance(given, Command) else "customer"
        context = AgentContext(user_id=self.user_id, role=role, locale="en")  # type: ignore[arg-type]
        config: Any = {"configurable": {"thread_id": thread_id}}
        runs = [self.agent.graph.ainvoke(given, config, context=context) for _ in range(2 if twice else 1)]
        states = await asyncio.gather(*runs, return_exceptions=True)
        for state in states:
            if isinstance(state, BaseException):
                raise state
        return states[-1]  # type: ignore[return-value]

    def _ended(self, state: dict[str, Any], kind: str, number: int) -> None:
        stopped, said = state.get("stopped_because"), state.get("answer") or ""
        if said == answer(kind, number):
            self.told.turns["answered"] += 1
            if kind == "memory" and not stopped:
                self.remembered.append(number)
        elif stopped and said:
            self.told.turns[stopped] += 1
        elif said.startswith("Sorry"):
            self.told.turns["no answer of the model"] += 1
        else:
            self.told.faults.append(f"message {number} ({kind}) was answered with {said[:80]!r} ({stopped})")


def _approved(requests: list[Any]) -> dict[str, Any]:
    return {request["call_id"]: {"type": "approve"} for request in requests}
