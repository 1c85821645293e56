"""Random model messages, tool outcomes and customer inputs through the whole graph.

    python -m bench.fuzz --examples 500 [--inputs 200]

After each conversation: the endpoint (strict) has refused nothing, every call has exactly one result, every turn
ended in a non-empty answer, and no stack trace and no secret reached the customer or the model. Hypothesis shrinks
what fails.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from graph import AgentContext, Settings, open_agent
from graph.open import Agent
from nodes.business import Business, Intent
from nodes.context_groups import call_ids
from tests.support.model_replies import Call, Reply, Request
from tests.support.model_server import ModelServer
from tools.errors import BusinessError, TransientError
from tools.spec import Arguments, ToolContext, ToolSpec

SECRET = "sk-abcdefghijklmnopqrstuvwx12345678"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "x": {"type": "integer", "description": "A number."},
        "text": {"type": "string", "description": "A text."},
    },
    "additionalProperties": False,
}


class Odd:
    """An object of a tool's own."""


def _generator() -> Any:
    yield from range(3)


OUTCOMES: Sequence[Any] = (
    None,
    math.nan,
    math.inf,
    b"\xff\x00",
    Decimal("1.50"),
    {1, 2},
    _generator,
    "long " * 400_000,
    "NUL \x00 and \ud800",
    Odd(),
    {"a": [{"id": n, "text": "x" * 50} for n in range(200)]},
    RuntimeError(f"token={SECRET}"),
    BusinessError("no such order"),
    TransientError("a moment"),
    TimeoutError(),
    asyncio.CancelledError(),
    SystemExit(3),
    GeneratorExit(),
    StopAsyncIteration(),
    BaseException("out of the ordinary"),
    ExceptionGroup("several", [ValueError(SECRET)]),
    RecursionError(),
    MemoryError(),
)


@dataclass
class World:
    """What the model says and what the tools do in the conversation that is being played."""

    replies: list[Reply] = field(default_factory=list)
    outcomes: list[Any] = field(default_factory=list)

    def script(self, request: Request) -> Reply:
        return self.replies.pop(0) if self.replies else Reply("All right.")

    async def run(self, args: Arguments, context: ToolContext) -> Any:
        outcome = self.outcomes.pop(0) if self.outcomes else "done"
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome() if callable(outcome) else outcome


def business(world: World) -> Business:
    tools = [
        ToolSpec("look", "Looks.", SCHEMA, world.run),
        ToolSpec("write", "Writes.", SCHEMA, world.run, effect="write"),
    ]
    return Business(
        "fuzz", "Help.", [Intent("chat", "Anything.", tools=("look", "write"))], tools=lambda _: tools
    )


NAMES = st.one_of(
    st.sampled_from(
        ["look", "write", "functions.look", 'look" />', "Shop.write", "", "look look", "read_result"]
    ),
    st.text(max_size=80),
)
ARGUMENTS = st.one_of(
    st.none(),
    st.sampled_from(["", "null", "{}", '{"x": ', '{"x":1}{"x":2}', "[]", '"x"']),
    st.sampled_from(['{"x": "5"}', '{"x": 1e999}', "{'x': 1}"]),
    st.dictionaries(
        st.sampled_from(["x", "text", "y"]),
        st.one_of(st.integers(), st.text(max_size=20), st.none()),
        max_size=3,
    ),
    st.text(max_size=40),
)
IDS = st.one_of(st.sampled_from(["auto", "call_1", "call_2", ""]), st.none())
CALLS = st.lists(st.builds(Call, NAMES, ARGUMENTS, IDS), max_size=4)
TEXTS = st.one_of(
    st.none(),
    st.sampled_from(
        ["", " ", "Done.", '{"name": "look", "arguments": {"x": 1}}', "<tool_call>{", "```json\n{}\n```"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
)
REPLIES = st.builds(
    Reply,
    text=TEXTS,
    calls=CALLS,
    refusal=st.sampled_from([None, None, None, "I will not."]),
    finish_reason=st.sampled_from(["auto", "auto", "stop", "length", None]),
)
CONVERSATIONS = st.lists(REPLIES, max_size=6)
RESULTS = st.lists(st.sampled_from(OUTCOMES), max_size=8)
INPUTS = st.one_of(
    st.sampled_from(["", " \n\t", "\x00", "\ud800", "a\udfffb", "x" * 1_000_000, "\x1b[31m\x07"]),
    st.sampled_from(["\u202egnihtyna", "👩‍👩‍👧‍👦"]),
    st.text(max_size=200),
    st.text(st.characters(categories=["Cs", "Cc", "Lo"]), max_size=40),
    st.just([{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]),
    st.just([{"type": "text", "text": "hello"}, {"type": "image_url", "image_url": {"url": "x"}}]),
    st.just([]),
)


class Fuzz:
    """Plays conversations on one open agent."""

    def __init__(self, agent: Agent, server: ModelServer, world: World) -> None:
        self._agent, self._server, self._world = agent, server, world

    async def model(self, replies: list[Reply], outcomes: list[Any]) -> None:
        """One turn with this model and these tools, and an ordinary one after it."""
        self._world.replies, self._world.outcomes = list(replies), list(outcomes)
        config = _new_thread()
        await self._turn(config, "please")
        self._world.replies, self._world.outcomes = [], []
        state = await self._turn(config, "and now?")
        assert state["answer"] == "All right."
        self._check(state)

    async def customer(self, content: Any) -> None:
        """One turn with this input, and an ordinary one after it."""
        self._world.replies, self._world.outcomes = [], []
        config = _new_thread()
        await self._turn(config, content)
        state = await self._turn(config, "and now?")
        assert state["answer"] == "All right."
        assert [m.type for m in state["messages"]] == ["human", "ai"] * 2
        stored = await self._agent.graph.aget_state(config)
        assert stored.values["messages"] == state["messages"]
        self._check(state)

    async def _turn(self, config: Any, content: Any) -> dict[str, Any]:
        state: dict[str, Any] = await self._agent.graph.ainvoke(
            {"messages": [HumanMessage(content)]}, config, context=AgentContext(user_id="u", locale="en")
        )
        assert state["answer"].strip(), "a turn ended without an answer"
        assert "Traceback" not in state["answer"]
        assert SECRET not in state["answer"]
        assert state["fault"] is None, "a stage failed"
        return state

    def _check(self, state: dict[str, Any]) -> None:
        calls = [id for m in state["messages"] if isinstance(m, AIMessage) for id in call_ids(m)]
        results = [m.tool_call_id for m in state["messages"] if isinstance(m, ToolMessage)]
        assert sorted(calls) == sorted(results)
        assert len(set(calls)) == len(calls)
        assert not self._server.refused, self._server.refused
        assert not self._server.script_errors, self._server.script_errors
        sent = str(self._server.requests)
        assert SECRET not in sent
        assert "Traceback" not in sent
        self._server.reset(self._world.script)


def _new_thread() -> Any:
    return {"configurable": {"thread_id": uuid4().hex}}


def run(home: Path, examples: int, inputs: int, database_url: str | None = None) -> None:
    """Raises what the first broken example raises, shrunk."""
    world = World()
    with ModelServer(world.script) as server, asyncio.Runner() as runner:
        values = {
            "database_url": database_url,
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
        opening = open_agent(Settings(_env_file=None, **values), business(world))
        agent = runner.run(opening.__aenter__())
        fuzz = Fuzz(agent, server, world)
        quiet = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}

        @settings(max_examples=examples, **quiet)  # type: ignore[arg-type]
        @given(CONVERSATIONS, RESULTS)
        def models(replies: list[Reply], outcomes: list[Any]) -> None:
            runner.run(fuzz.model(replies, outcomes))

        @settings(max_examples=inputs, **quiet)  # type: ignore[arg-type]
        @given(INPUTS)
        def customers(content: Any) -> None:
            runner.run(fuzz.customer(content))

        try:
            models()
            customers()
        finally:
            runner.run(opening.__aexit__(None, None, None))


def main() -> None:
    """Fuzz on a fresh database and print what was played."""
    parser = argparse.ArgumentParser(prog="python -m bench.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--examples", type=int, default=500, help="conversations with a random model")
    parser.add_argument("--inputs", type=int, default=200, help="conversations with a random customer")
    arguments = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as home:
        run(Path(home), arguments.examples, arguments.inputs)
    seconds = time.monotonic() - began
    print(f"{arguments.examples} model histories and {arguments.inputs} inputs hold, in {seconds:.0f} s")


if __name__ == "__main__":
    main()
