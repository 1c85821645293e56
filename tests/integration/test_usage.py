"""The token ledger in Postgres, and what can be read from it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage

from memory.database import Database
from memory.user_lock import user_hash
from nodes.booking import Booking
from nodes.endpoint import CallUsage, ModelCall, ModelReply, ask
from nodes.settings import NodeSettings, Role
from nodes.state import Turn
from nodes.usage import UsageLedger
from nodes.usage_report import report
from tests.support.model_clients import QUESTION, models_for, within
from tests.support.model_replies import Reply, Usage, empty
from tests.support.model_server import ModelServer, RoleQueues

ESTIMATE = {"instructions": 600, "memory": 100, "tools": 100, "history": 200}
USER = "用户_%😀"


@pytest.fixture
def settings(tmp_path: Path) -> NodeSettings:
    prices = tmp_path / "prices.json"
    prices.write_text('{"chat": {"input": 1, "cached_input": 0.1, "output": 10}}')
    return NodeSettings(_env_file=None, steward_prices=prices)


def turn(id: str, user: str = USER) -> Turn:
    return {
        "id": id,
        "message_id": "m",
        "started_at": "2026-01-01T00:00:00Z",
        "deadline": 0.0,
        "user_id": user,
        "locale": "zh",
        "timezone": "Asia/Shanghai",
        "request": "?",
        "model_calls": 0,
        "tool_calls": 0,
        "tokens": 0,
        "versions": {"business": "shop/1", "prompts": "", "models": {}},
    }


def booking(*usages: CallUsage, role: Role = "chat", model: str = "chat") -> Booking:
    calls = tuple(ModelCall(model, usage, 0.1) for usage in usages)
    return Booking("call_model", role, ModelReply(AIMessage("ok"), model, 0.2, len(calls), calls), ESTIMATE)


async def test_a_model_call_is_booked_with_figures_classes_and_price(
    server: ModelServer, script: RoleQueues, database: Database, settings: NodeSettings
) -> None:
    script.add("chat", Reply("好的", usage=Usage(1000, 50, cached=400, reasoning=20)))
    ledger = UsageLedger(database, settings)
    async with models_for(server) as models:
        reply = await ask(models, "chat", QUESTION, deadline=within(5))
    ledger.add(turn("t1"), "thread-1", Booking("call_model", "chat", reply, ESTIMATE))
    await ledger.flush()
    [row] = await database.fetch("SELECT * FROM token_usage")
    assert (row["thread_id"], row["turn_id"], row["user_id"]) == ("thread-1", "t1", USER)
    assert (row["node"], row["role"], row["model"]) == ("call_model", "chat", "chat")
    assert [row[name] for name in ("instructions", "memory", "tools", "history", "output")] == [
        600,
        100,
        100,
        200,
        50,
    ]
    assert (row["prompt_tokens"], row["completion_tokens"]) == (1000, 50)
    assert (row["cached_tokens"], row["reasoning_tokens"], row["estimated"]) == (400, 20, False)
    assert row["cost"] == Decimal("0.001140")


async def test_a_discarded_answer_is_booked_too(
    server: ModelServer, script: RoleQueues, database: Database, settings: NodeSettings
) -> None:
    script.add("chat", empty(), Reply("ok"))
    ledger = UsageLedger(database, settings)
    async with models_for(server) as models:
        reply = await ask(models, "chat", QUESTION, deadline=within(5))
    ledger.add(turn("t1"), "thread-1", Booking("call_model", "chat", reply, ESTIMATE))
    await ledger.flush()
    rows = await database.fetch("SELECT prompt_tokens + completion_tokens AS tokens FROM token_usage")
    assert len(rows) == 2
    assert sum(row["tokens"] for row in rows) == reply.usage.prompt_tokens + reply.usage.completion_tokens


async def test_missing_figures_are_marked_as_estimated_and_an_unknown_model_has_no_cost(
    database: Database, settings: NodeSettings
) -> None:
    ledger = UsageLedger(database, settings)
    ledger.add(turn("t1"), "thread-1", booking(CallUsage(10, 2, estimated=True), model="else"))
    await ledger.flush()
    [row] = await database.fetch("SELECT estimated, cost FROM token_usage")
    assert (row["estimated"], row["cost"]) == (True, None)


async def test_what_is_booked_is_written_soon_even_where_nobody_flushes(
    database: Database, settings: NodeSettings
) -> None:
    ledger = UsageLedger(database, settings)
    ledger.add(turn("t1"), "thread-1", booking(CallUsage(10, 2)))
    async with asyncio.timeout(5):
        while not await database.fetch("SELECT FROM token_usage"):  # noqa: ASYNC110  # written by a timer
            await asyncio.sleep(0.05)
    await ledger.aclose()


async def test_closing_writes_the_rest(database: Database, settings: NodeSettings) -> None:
    ledger = UsageLedger(database, settings)
    ledger.add(turn("t1"), "thread-1", booking(CallUsage(10, 2)))
    await ledger.aclose()
    assert len(await database.fetch("SELECT FROM token_usage")) == 1


async def test_a_ledger_that_cannot_be_written_breaks_nothing_and_loses_nothing(
    database: Database, settings: NodeSettings
) -> None:
    ledger = UsageLedger(database, settings)
    await database.execute("ALTER TABLE token_usage RENAME TO away")
    ledger.add(turn("t1"), "thread-1", booking(CallUsage(10, 2)))
    await ledger.flush()
    ledger.add(turn("t2"), "thread-1", booking(CallUsage(20, 2)))
    await database.execute("ALTER TABLE away RENAME TO token_usage")
    await ledger.flush()
    rows = await database.fetch("SELECT prompt_tokens FROM token_usage ORDER BY created_at")
    assert [row["prompt_tokens"] for row in rows] == [10, 20]


async def test_the_report_adds_up_by_turn_thread_and_day(database: Database, settings: NodeSettings) -> None:
    ledger = UsageLedger(database, settings)
    ledger.add(turn("t1"), "thread-1", booking(CallUsage(100, 10), CallUsage(200, 10)))
    ledger.add(turn("t1"), "thread-1", booking(CallUsage(50, 5), role="router", model="else"))
    ledger.add(turn("t2"), "thread-1", booking(CallUsage(300, 10, estimated=True)))
    ledger.add(turn("t3"), "thread-2", booking(CallUsage(1000, 0)))
    ledger.add(turn("t4", user="用户x%😀"), "thread-3", booking(CallUsage(7, 7)))
    await ledger.flush()

    first, second = await report(database, thread="thread-1")
    assert (first["key"], second["key"]) == ("t1", "t2")
    assert (first["calls"], first["by_role"]) == (3, {"chat": 320, "router": 55})
    assert first["by_class"] == {"instructions": 210, "memory": 35, "tools": 35, "history": 70, "output": 25}
    assert (first["unpriced_calls"], second["estimated_calls"]) == (1, 1)
    assert first["cost"] == pytest.approx(0.0005)

    assert [row["key"] for row in await report(database, user=USER)] == ["thread-1", "thread-2"]
    [day] = await report(database, user=USER, days=2)
    assert day["prompt_tokens"] == 1650
    [everyone] = await report(database, days=2)
    assert everyone["calls"] == 6
    assert await report(database, thread="none") == []


async def test_booking_outside_a_turn_is_written_at_once(database: Database, settings: NodeSettings) -> None:
    ledger = UsageLedger(database, settings)
    await ledger.book_now(USER, "thread-1", "", booking(CallUsage(10, 2), role="summariser"))
    [row] = await database.fetch("SELECT role, turn_id FROM token_usage")
    assert (row["role"], row["turn_id"]) == ("summariser", "")


async def test_a_call_that_began_before_its_user_was_erased_is_booked_without_a_name(
    database: Database, settings: NodeSettings
) -> None:
    ledger = UsageLedger(database, settings)
    await database.execute("INSERT INTO erased_user VALUES (%s, 1, now())", (user_hash(USER),))
    await asyncio.sleep(0.2)
    ledger.add(turn("after"), "thread-2", booking(CallUsage(30, 2)))
    during = booking(CallUsage(20, 2))
    (call,) = during.reply.calls
    long = replace(during, reply=replace(during.reply, calls=(replace(call, seconds=60.0),)))
    await ledger.book_now(USER, "thread-1", "", long)
    await ledger.book_now("another", "thread-3", "", long)
    rows = await database.fetch(
        "SELECT user_id, thread_id, turn_id, prompt_tokens FROM token_usage ORDER BY thread_id"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("", "", "", 20),
        (USER, "thread-2", "after", 30),
        ("another", "thread-3", "", 20),
    ]
