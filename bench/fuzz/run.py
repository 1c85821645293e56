"""Plays random conversations through the whole graph, and looks at what reached model, customer and thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from bench.fuzz.histories import history_fault
from bench.fuzz.inputs import make_input
from bench.fuzz.models import SECRET, World, business, make_outcomes, make_replies
from graph import AgentContext, Settings, open_agent
from graph.open import Agent
from memory.errors import InvalidInput
from nodes.context_groups import call_ids
from tests.support.model_server import ModelServer

INPUTS_OF_A_THREAD = 5
"""Random ones; then an ordinary message is to be served as if nothing had been."""
AT_ONCE = 8
"""Threads whose customers write at the same time."""
Progress = Callable[[str], object]


@dataclass
class Result:
    """What was played, and each fault with the kind and number that play it again."""

    histories: int = 0
    inputs: int = 0
    refused: int = 0
    """Of the inputs: told to be none."""
    conversations: int = 0
    faults: list[str] = field(default_factory=list)


def play_histories(seed: int, count: int, result: Result, *, start: int = 0) -> None:
    """Requests are validated in this process, as a strict endpoint would read them."""
    for number in range(start, start + count):
        try:
            fault = history_fault(Random(f"{seed}/history/{number}"))
        except Exception as error:  # a fault like any other, and the run goes on
            fault = f"{type(error).__name__}: {error}"
        if fault:
            result.faults.append(f"history {number}: {fault}")
        result.histories += 1


class Fuzz:
    """Plays conversations on one open agent."""

    def __init__(self, agent: Agent, server: ModelServer, world: World, seed: int, result: Result) -> None:
        self._agent, self._server, self._world = agent, server, world
        self._seed, self._result = seed, result

    async def inputs(self, count: int, progress: Progress, *, start: int = 0) -> None:
        """Threads of random inputs, several at once."""
        threads = -(-count // INPUTS_OF_A_THREAD)
        for first in range(start, start + threads, AT_ONCE):
            numbers = range(first, min(first + AT_ONCE, start + threads))
            await asyncio.gather(*(self._noted("input thread", n, self._customer(n)) for n in numbers))
            self._check_requests(f"input threads from {first}")
            if first % (AT_ONCE * 25) == 0:
                progress(f"{self._result.inputs} inputs")

    async def conversations(self, count: int, progress: Progress, *, start: int = 0) -> None:
        """One turn with a random model and random tools, and an ordinary one after it."""
        for number in range(start, start + count):
            await self._noted("conversation", number, self._model(number))
            self._check_requests(f"conversation {number}")
            if number % 200 == 0:
                progress(f"{self._result.conversations} conversations")

    async def _noted(self, kind: str, number: int, playing: Any) -> None:
        try:
            await playing
        except Exception as error:  # told with what plays it again, and the run goes on
            self._result.faults.append(f"{kind} {number}: {type(error).__name__}: {str(error)[:300]}")

    async def _customer(self, number: int) -> None:
        chance = Random(f"{self._seed}/input/{number}")
        config = _new_thread()
        for _ in range(INPUTS_OF_A_THREAD):
            self._result.inputs += 1
            try:
                await self._turn(config, make_input(chance))
            except InvalidInput as error:
                self._result.refused += 1
                if "\n" in str(error) or len(str(error)) > 400:
                    raise AssertionError("a refusal of more than one line") from error
        state = await self._turn(config, {"messages": [HumanMessage("and now?")]})
        assert state["answer"] == "All right."
        stored = await self._agent.graph.aget_state(config)
        assert stored.values["messages"] == state["messages"]
        _check_thread(state)

    async def _model(self, number: int) -> None:
        chance = Random(f"{self._seed}/conversation/{number}")
        self._world.replies, self._world.outcomes = make_replies(chance), make_outcomes(chance)
        self._result.conversations += 1
        config = _new_thread()
        await self._turn(config, {"messages": [HumanMessage("please")]})
        self._world.replies, self._world.outcomes = [], []
        state = await self._turn(config, {"messages": [HumanMessage("and now?")]})
        assert state["answer"] == "All right."
        _check_thread(state)

    async def _turn(self, config: Any, given: Any) -> dict[str, Any]:
        state: dict[str, Any] = await self._agent.graph.ainvoke(
            given, config, context=AgentContext(user_id="u", locale="en")
        )
        assert state["answer"].strip(), "a turn ended without an answer"
        assert "Traceback" not in state["answer"]
        assert SECRET not in state["answer"]
        assert state["fault"] is None, "a stage failed"
        return state

    def _check_requests(self, played: str) -> None:
        """The endpoint (strict) has refused nothing, and has seen no secret and no stack trace."""
        sent = str(self._server.requests)
        faults = [*self._server.refused, *map(str, self._server.script_errors)]
        faults += [f"{mark!r} was sent to the model" for mark in (SECRET, "Traceback") if mark in sent]
        self._result.faults += [f"{played}: {fault}" for fault in faults]
        self._server.reset(self._world.script)


def _check_thread(state: dict[str, Any]) -> None:
    calls = [id for m in state["messages"] if isinstance(m, AIMessage) for id in call_ids(m)]
    results = [m.tool_call_id for m in state["messages"] if isinstance(m, ToolMessage)]
    assert sorted(calls) == sorted(results), "calls and results do not match"
    assert len(set(calls)) == len(calls), "a call id stands twice"


def _new_thread() -> Any:
    return {"configurable": {"thread_id": uuid4().hex}}


@asynccontextmanager
async def fuzzing(home: Path, seed: int, result: Result, url: str | None = None) -> AsyncIterator[Fuzz]:
    """An agent to play on, with a strict model endpoint over HTTP and real Postgres."""
    world = World()
    with ModelServer(world.script) as server:
        values = {
            "database_url": url,
            "steward_home": home,
            "steward_routing": "off",
            "steward_review": "off",
            "steward_long_term_memory": "off",
            "steward_worker": "external",
            "steward_breaker_failures": 1_000_000,
            "steward_max_model_calls": 8,
            "steward_log_level": "error",
            **server.settings(),
        }
        async with open_agent(Settings(_env_file=None, **values), business(world)) as agent:
            yield Fuzz(agent, server, world, seed, result)
