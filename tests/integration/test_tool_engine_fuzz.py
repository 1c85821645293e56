"""Whatever the model calls and whatever the tools do, every call comes out with exactly one valid result."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import httpx
import psycopg
import pytest
import structlog
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.database import Database
from memory.tokens import count
from tests.support.tool_calls import Bench, check_envelope, scope, tool
from tools.calls import Decision, RawCall
from tools.envelope import render
from tools.errors import BusinessError, TransientError
from tools.spec import Approval, Arguments, ToolContext, ToolReply

RESULT_TOKENS = 200


@dataclass(frozen=True)
class Raises:
    error: BaseException


@dataclass(frozen=True)
class Hangs:
    swallows: bool
    """Keeps the cancellation and returns as if nothing had happened."""


class Rude(BaseException):
    """An exception that a plain `except Exception` lets through."""


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


ERRORS = st.sampled_from(
    [
        RuntimeError("token=sk-abcdefghijklmnopqrstuvwx0123"),
        asyncio.CancelledError(),
        TimeoutError(),
        ConnectionRefusedError(),
        ConnectionResetError(),
        httpx.ReadTimeout("slow"),
        httpx.HTTPStatusError(
            "busy",
            request=httpx.Request("GET", "http://x"),
            response=httpx.Response(
                429, headers={"retry-after": "1"}, request=httpx.Request("GET", "http://x")
            ),
        ),
        psycopg.OperationalError("gone"),
        BusinessError("No such order.", kind="not_found"),
        BusinessError("Shipped already."),
        TransientError("overloaded"),
        SystemExit(2),
        GeneratorExit(),
        StopAsyncIteration(),
        MemoryError(),
        RecursionError(),
        Rude("rude"),
        Unprintable(),
        ExceptionGroup("several", [TimeoutError(), ValueError("x")]),
        BaseExceptionGroup("several", [asyncio.CancelledError(), Rude()]),
    ]
).map(Raises)
UNSTORABLE = st.sampled_from(["a\x00b", "\ud800", "\ude00\ud83d"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=80)
    | UNSTORABLE
    | st.binary(max_size=20)
    | st.sampled_from([Decimal("1.10"), datetime(2024, 5, 20, tzinfo=UTC), object(), range(3)])
    | st.just(20_000).map(lambda size: "x" * size)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(SCALARS, inner, max_size=6),
    max_leaves=25,
)
DOINGS = (
    VALUES
    | VALUES.map(lambda value: ToolReply(value, {"signal": value}))
    | ERRORS
    | st.builds(Hangs, st.booleans())
)
NAMES = st.sampled_from(
    ["read", "write", "put", "alone", "ask", "functions.read", 'write" />', "none", "", "读取"]
)
ARGUMENTS = (
    st.fixed_dictionaries({"x": st.integers(0, 2)})
    | st.fixed_dictionaries({"x": st.sampled_from(["1", "inf", "3.14", None, True, [1], {"a": 1}])})
    | st.dictionaries(
        st.text(max_size=5) | UNSTORABLE, st.text(max_size=5) | UNSTORABLE | st.integers(), max_size=3
    )
    | st.fixed_dictionaries({"text": UNSTORABLE})
)
TEXTS = st.sampled_from(
    [
        "",
        "null",
        '{"x": 1',
        '{"x":1}{"x":2}',
        "{'x': 1,}",
        '```json\n{"x": 1}\n```',
        '{"x": ',
        "x=1",
        "\ud800",
        "[1]",
    ]
) | st.text(max_size=20)
DECISIONS = st.none() | st.sampled_from(
    [
        {"type": "approve", "by": "staff"},
        {"type": "approve", "by": "customer"},
        {"type": "reject", "by": "customer", "message": "no\x00"},
        {"type": "respond", "by": "staff", "message": "later"},
        {"type": "edit", "by": "staff", "args": {"x": 2}},
        {"type": "edit", "by": "staff", "args": {"x": "many", "\ud800": 1}},
        {"type": "shrug"},
        {},
    ]
)


GOOD_NAMES = st.sampled_from(["read", "write", "put", "alone", "ask"])


@st.composite
def calls(draw: st.DrawFn) -> RawCall:
    """Most of them may run; every kind of fault is among the others."""
    match draw(st.integers(0, 7)):
        case 0:
            return RawCall("", draw(NAMES), draw(ARGUMENTS))
        case 1:
            return RawCall("", draw(GOOD_NAMES), draw(ARGUMENTS))
        case 2:
            return RawCall("", draw(GOOD_NAMES), None, draw(TEXTS), "it could not be read")
        case _:
            return RawCall("", draw(GOOD_NAMES), {"x": draw(st.integers(0, 4))})


class Tools:
    """Tools that do what is next on a list, whichever is called."""

    def __init__(self) -> None:
        self.doings: list[Any] = []

    async def run(self, args: Arguments, context: ToolContext) -> Any:
        doing = self.doings.pop() if self.doings else None
        if isinstance(doing, Raises):
            raise doing.error
        if isinstance(doing, Hangs):
            with suppress(*((asyncio.CancelledError,) if doing.swallows else ())):
                await asyncio.sleep(60)
        return doing

    async def rule(self, args: Arguments, context: ToolContext) -> Approval | None:
        return Approval("staff", "why") if args.get("x") == 1 else None

    def specs(self) -> list[Any]:
        options: dict[str, dict[str, Any]] = {
            "read": {"cache_seconds": 60, "keep": ("a", "b[].c")},
            "write": {"effect": "write"},
            "put": {"effect": "write", "repeatable": True},
            "alone": {"alone": True},
            "ask": {"effect": "write", "approval": self.rule},
        }
        return [tool(name, self.run, timeout=0.02, **given) for name, given in options.items()]


@pytest.fixture
def quiet() -> Iterator[None]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield
    structlog.reset_defaults()


def test_exactly_one_valid_result_a_call(database_url: str, quiet: None) -> None:
    with asyncio.Runner() as runner:
        database = runner.run(Database(database_url, size=4).__aenter__())
        tools = Tools()
        bench = Bench(
            database,
            tools.specs(),
            settings={"steward_result_tokens": RESULT_TOKENS, "steward_breaker_seconds": 0.01},
        )

        @settings(max_examples=150, deadline=None)
        @given(st.lists(st.tuples(calls(), DECISIONS), max_size=6), st.lists(DOINGS, min_size=4, max_size=8))
        def holds(made: list[tuple[RawCall, Decision | None]], doings: list[Any]) -> None:
            tools.doings = doings
            runner.run(one_turn(bench, made))

        holds()
        runner.run(database.__aexit__(None, None, None))


async def one_turn(bench: Bench, made: list[tuple[RawCall, Decision | None]]) -> None:
    batch = [replace(call, id=f"call-{index}") for index, (call, _) in enumerate(made)]
    decisions = {
        call.id: decision for call, (_, decision) in zip(batch, made, strict=True) if decision is not None
    }
    bench.scope = replace(scope(), offered=bench.scope.offered)
    outcomes = await bench.run(*batch, decisions=decisions)
    assert [outcome.id for outcome in outcomes] == [call.id for call in batch]
    for outcome in outcomes:
        check_envelope(outcome.envelope)
        # field names in the note on losses may be of three tokens a character
        assert count(render(outcome.envelope)) <= RESULT_TOKENS + 250
        assert "sk-abc" not in render(outcome.envelope)
    recorded = {row["call_id"] for row in await bench.rows()}
    assert recorded == {call.id for call in batch}
    current = asyncio.current_task()
    assert current is not None
    assert current.cancelling() == 0
