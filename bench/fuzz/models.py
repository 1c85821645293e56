"""What models say and what tools do: readable and not, at random."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any

from bench.fuzz.texts import SAID, any_text
from memory.clean import clean_text
from nodes.business import Business, Intent
from tests.support.model_replies import Call, Reply, Request
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
NAMES = ("look", "write", "functions.look", 'look" />', "Shop.write", "", "look look", "read_result")
ARGUMENTS: Sequence[Any] = (
    None,
    "",
    "null",
    "{}",
    '{"x": ',
    '{"x":1}{"x":2}',
    "[]",
    '"x"',
    '{"x": "5"}',
    '{"x": 1e999}',
    "{'x': 1}",
    {"x": 1},
    {"x": None, "text": "a"},
    {"y": 3},
)


def make_replies(chance: Random) -> list[Reply]:
    """What the model says, one after the other."""
    return [_reply(chance) for _ in range(chance.randint(0, 6))]


def make_outcomes(chance: Random) -> list[Any]:
    """What the tools do, one after the other."""
    return [chance.choice(OUTCOMES) for _ in range(chance.randint(0, 8))]


def _reply(chance: Random) -> Reply:
    calls = [_call(chance) for _ in range(chance.choice((0, 1, 1, 2, 4)))]
    text = (
        None if chance.random() < 0.4 else clean_text(chance.choice([any_text(chance), chance.choice(SAID)]))
    )
    return Reply(
        text=text,
        calls=calls,
        refusal="I will not." if chance.random() < 0.1 else None,
        finish_reason=chance.choice(("auto", "auto", "stop", "length", None)),
    )


def _call(chance: Random) -> Call:
    name = chance.choice(NAMES) if chance.random() < 0.8 else clean_text(any_text(chance))
    arguments = chance.choice(ARGUMENTS) if chance.random() < 0.8 else clean_text(any_text(chance))
    return Call(name, arguments, chance.choice(("auto", "call_1", "call_2", "", None)))


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
        made: Callable[[], Any] | Any = outcome
        return made() if callable(made) else made


def business(world: World) -> Business:
    """Two tools that do what the world holds for them."""
    tools = [
        ToolSpec("look", "Looks.", SCHEMA, world.run),
        ToolSpec("write", "Writes.", SCHEMA, world.run, effect="write"),
    ]
    return Business(
        "fuzz", "Help.", [Intent("chat", "Anything.", tools=("look", "write"))], tools=lambda _: tools
    )
