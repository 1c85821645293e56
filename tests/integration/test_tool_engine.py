"""Every call comes out with exactly one result, whatever the tool does."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from langgraph.errors import GraphInterrupt

from memory.database import Database
from tests.support.tool_calls import Bench, as_any, call, check_envelope, raising, returning, tool
from tools.calls import RawCall
from tools.errors import BusinessError, TransientError
from tools.spec import Arguments, ToolContext, ToolReply


async def echo(args: Arguments, context: ToolContext) -> Any:
    return args


async def test_a_sibling_keeps_its_result_when_another_raises(database: Database) -> None:
    bench = Bench(database, [tool("ok", echo), tool("bad", raising(RuntimeError("boom at 10.0.0.7")))])
    good, bad = await bench.run(call("ok", "a", x=1), call("bad", "b", x=2))
    assert (good.id, good.envelope) == ("a", {"status": "ok", "data": {"x": 1}})
    assert (bad.id, bad.envelope["error_kind"], bad.transient) == ("b", "internal", False)
    assert "boom" not in str(bad.envelope)
    assert "10.0.0.7" not in str(bad.envelope)
    assert [(row["call_id"], row["status"]) for row in await bench.rows()] == [("a", "ok"), ("b", "error")]


async def test_a_tool_that_raises_cancelled_error_is_an_error_and_the_turn_goes_on(
    database: Database,
) -> None:
    bench = Bench(database, [tool("ok", echo), tool("bad", raising(asyncio.CancelledError()))])
    good, bad = await bench.run(call("ok"), call("bad"))
    assert good.ok
    assert bad.envelope["error_kind"] == "cancelled"
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_cancellation_from_outside_reaches_the_tools_and_passes_on(database: Database) -> None:
    cleaned: list[int] = []
    running = asyncio.Semaphore(0)

    async def slow(args: Arguments, context: ToolContext) -> None:
        running.release()
        try:
            await asyncio.sleep(60)
        finally:
            cleaned.append(1)

    bench = Bench(database, [tool("slow", slow)])
    task = asyncio.create_task(bench.run(call("slow", x=1), call("slow", x=2)))
    await running.acquire()
    await running.acquire()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cleaned == [1, 1]


async def test_time_is_up_after_the_tools_own_limit(database: Database) -> None:
    async def slow(args: Arguments, context: ToolContext) -> None:
        await asyncio.sleep(60)

    bench = Bench(database, [tool("slow", slow, timeout=0.05)])
    (outcome,) = await bench.run(call("slow"))
    assert outcome.envelope["error_kind"] == "timeout"
    assert outcome.transient
    assert outcome.seconds >= 0.05


async def test_calls_run_side_by_side_but_no_more_than_the_setting_allows(database: Database) -> None:
    now, most = 0, 0

    async def busy(args: Arguments, context: ToolContext) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.01)
        now -= 1

    bench = Bench(database, [tool("busy", busy)], settings={"steward_parallel_calls": 3})
    outcomes = await bench.run(*(call("busy", x=number) for number in range(9)))
    assert [outcome.args["x"] for outcome in outcomes] == list(range(9))
    assert most == 3


async def test_a_tool_that_must_be_alone_is(database: Database) -> None:
    running: set[str] = set()
    beside: set[str] = set()
    order: list[str] = []

    def watch(name: str) -> Any:
        async def run(args: Arguments, context: ToolContext) -> None:
            running.add(name)
            await asyncio.sleep(0.01)
            if name == "alone":
                beside.update(running - {"alone"})
            order.append(name)
            running.discard(name)

        return run

    bench = Bench(database, [tool("shared", watch("shared")), tool("alone", watch("alone"), alone=True)])
    outcomes = await bench.run(call("shared", x=1), call("alone"), call("shared", x=2), call("shared", x=3))
    assert all(outcome.ok for outcome in outcomes)
    assert not beside
    assert order == ["shared", "alone", "shared", "shared"]


async def test_an_interrupt_inside_a_tool_passes_and_its_siblings_are_recorded(database: Database) -> None:
    bench = Bench(database, [tool("ok", echo, effect="write"), tool("asks", raising(GraphInterrupt()))])
    with pytest.raises(GraphInterrupt):
        await bench.run(call("ok", "a", x=1), call("asks", "b"))
    assert [(row["call_id"], row["status"]) for row in await bench.rows()] == [("a", "ok")]


async def test_a_side_effect_that_pauses_the_graph_runs_again_on_resume(database: Database) -> None:
    answers: list[Any] = [GraphInterrupt(), "done"]

    async def asks(args: Arguments, context: ToolContext) -> Any:
        if isinstance(answer := answers.pop(0), GraphInterrupt):
            raise answer
        return answer

    bench = Bench(database, [tool("asks", asks, effect="write")])
    with pytest.raises(GraphInterrupt):
        await bench.run(call("asks", "a"))
    (outcome,) = await bench.run(call("asks", "a"))
    assert outcome.envelope == {"status": "ok", "data": "done"}


async def test_an_unknown_name_is_told_the_nearest(database: Database) -> None:
    bench = Bench(database, [tool("order_query", echo), tool("stock_query", echo)])
    envelope = await bench.one("order_qurey", x=1)
    assert envelope["error_kind"] == "unknown_tool"
    assert "order_query" in envelope["error_desc"]


async def test_a_decorated_name_means_the_one_tool_that_fits(database: Database) -> None:
    bench = Bench(database, [tool("order_query", echo)])
    assert (await bench.one("functions.order_query", x=1))["data"] == {"x": 1}


async def test_nothing_runs_on_arguments_that_do_not_hold(database: Database) -> None:
    ran: list[Arguments] = []

    async def run(args: Arguments, context: ToolContext) -> None:
        ran.append(args)

    bench = Bench(database, [tool("probe", run)])
    outcomes = await bench.run(
        call("probe", x="3.14"),
        call("probe", y=1),
        call("probe", x=float("inf")),
        RawCall("c", "probe", None, '{"x": 1', "it was cut off"),
        RawCall("d", "probe", None, '{"x":1}{"x":2}', "it is not one object"),
    )
    assert not ran
    assert {outcome.envelope["error_kind"] for outcome in outcomes} == {"invalid_arguments"}
    for outcome, named in zip(outcomes, ("x", "y", "x", "", "one object"), strict=True):
        assert named in outcome.envelope["error_desc"]
        assert bench.phases(outcome.id) == ["refused"]
    assert {row["error_kind"] for row in await bench.rows()} == {"invalid_arguments"}


async def test_a_text_that_no_store_takes_is_cleaned_before_it_reaches_a_tool(database: Database) -> None:
    bench = Bench(database, [tool("probe", echo)])
    plain, read = await bench.run(
        call("probe", text="a\x00b\ud800"), RawCall("r", "probe", None, '{"text": "a\\u0000b"}', "not plain")
    )
    assert (plain.args, plain.envelope["data"]) == ({"text": "ab\ufffd"}, {"text": "ab\ufffd"})
    assert read.args == {"text": "ab"}


async def test_an_invented_identifier_is_asked_for_and_a_known_one_runs(database: Database) -> None:
    guarded = {"parameters": as_order(), "grounded": {"order_id": "identifier"}}
    listing = tool("order_list", returning([{"order_id": "ABC-7"}]), identifiers=("[].order_id",))
    bench = Bench(database, [listing, tool("order_query", echo, **guarded)])
    invented = await bench.one("order_query", order_id="ABC-7")
    assert invented["error_kind"] == "ungrounded_argument"
    assert "order_id" in invented["error_desc"]
    await bench.one("order_list")
    assert (await bench.one("order_query", order_id="abc-7"))["status"] == "ok"


async def test_an_identifier_of_another_users_result_grounds_nothing(database: Database) -> None:
    guarded = {"parameters": as_order(), "grounded": {"order_id": "identifier"}}
    listing = tool("order_list", returning([{"order_id": "ABC-7"}]), identifiers=("[].order_id",))
    bench = Bench(database, [listing, tool("order_query", echo, **guarded)])
    await bench.run(call("order_list"), scope=replace(bench.scope, user_id="user_12_"))
    assert (await bench.one("order_query", order_id="ABC-7"))["error_kind"] == "ungrounded_argument"


def as_order() -> dict[str, Any]:
    field = {"type": "string", "description": "Order number."}
    return {
        "type": "object",
        "properties": {"order_id": field},
        "required": ["order_id"],
        "additionalProperties": False,
    }


async def test_a_business_error_speaks_to_the_model_without_secrets(database: Database) -> None:
    error = BusinessError(
        "Order X-1 is shipped; key sk-proj-abcdefghijklmnopqrstuvwx", try_next="Offer a return."
    )
    bench = Bench(database, [tool("cancel", raising(error), effect="write")])
    envelope = await bench.one("cancel")
    assert (envelope["error_kind"], envelope["retryable"]) == ("business", False)
    assert envelope["try_next"] == "Offer a return."
    assert "Order X-1 is shipped" in envelope["error_desc"]
    assert "sk-proj" not in envelope["error_desc"]


async def test_a_transient_failure_of_a_repeatable_tool_is_for_the_graph_to_retry(database: Database) -> None:
    bench = Bench(database, [tool("flaky", raising(ConnectionResetError()))])
    (first,) = await bench.run(call("flaky", "a"))
    assert (first.transient, first.attempts) == (True, 1)
    assert 0 <= first.retry_after <= 0.4
    again = replace(bench.scope, attempts={"a": 2})
    (last,) = await bench.run(call("flaky", "a"), scope=again)
    assert (last.transient, last.attempts) == (False, 3)
    assert (last.envelope["error_kind"], last.envelope["retryable"]) == ("unavailable", True)
    assert bench.phases("a") == ["started", "retrying", "failed"]
    (row,) = await bench.rows()
    assert (row["attempt"], row["status"], row["error_kind"]) == (3, "error", "unavailable")


async def test_a_side_effect_is_never_retried_by_itself(database: Database) -> None:
    bench = Bench(database, [tool("pay", raising(TransientError("overloaded")), effect="write")])
    (outcome,) = await bench.run(call("pay"))
    assert (outcome.transient, outcome.envelope["error_kind"]) == (False, "unavailable")
    assert outcome.envelope["retryable"]


async def test_a_tool_that_keeps_failing_is_taken_out_and_says_so(database: Database) -> None:
    tries = 0

    async def broken(args: Arguments, context: ToolContext) -> None:
        nonlocal tries
        tries += 1
        raise ConnectionRefusedError

    bench = Bench(database, [tool("broken", broken)], settings={"steward_breaker_failures": 2})
    await bench.one("broken", x=1)
    await bench.one("broken", x=2)
    (outcome,) = await bench.run(call("broken", x=3))
    assert tries == 2
    assert (outcome.envelope["error_kind"], outcome.transient) == ("unavailable", False)
    assert "30 s" in outcome.envelope["error_desc"]
    assert outcome.signals == {"breaker": "open"}


async def test_business_errors_do_not_take_a_tool_out(database: Database) -> None:
    bench = Bench(
        database,
        [tool("query", raising(BusinessError("No such order.", kind="not_found")))],
        settings={"steward_breaker_failures": 2},
    )
    kinds = [(await bench.one("query", x=number)).get("error_kind") for number in range(5)]
    assert kinds == ["not_found"] * 5


async def test_the_third_identical_call_is_answered_from_the_turns_own_result(database: Database) -> None:
    runs = 0

    async def search(args: Arguments, context: ToolContext) -> Any:
        nonlocal runs
        runs += 1
        return {"found": ["P-1"]}

    bench = Bench(database, [tool("search", search)])
    for made in range(3):
        turn = replace(bench.scope, made=as_any((("search", {"x": 1}),) * made))
        (outcome,) = await bench.run(call("search", x=1), scope=turn)
    assert runs == 2
    assert outcome.envelope["error_kind"] == "limit"
    assert outcome.envelope["data"] == {"found": ["P-1"]}
    assert bench.engine.repeats([("search", {"x": 1})], "search", {"x": 1}) == 1


async def test_equal_calls_of_one_message_run_once_and_each_gets_the_result(database: Database) -> None:
    runs = 0

    async def charge(args: Arguments, context: ToolContext) -> Any:
        nonlocal runs
        runs += 1
        await asyncio.sleep(0.01)
        return {"charge": "C-1"}

    bench = Bench(database, [tool("charge", charge, effect="write")])
    one, two = await bench.run(call("charge", "a", x=1), call("charge", "b", x=1.0))
    assert runs == 1
    assert one.envelope == two.envelope
    assert (one.id, two.id) == ("a", "b")


class Odd:
    def __init__(self) -> None:
        self.order_id = "ABC-1"


@pytest.mark.parametrize(
    "value",
    [
        None,
        float("nan"),
        Decimal("12.50"),
        datetime(2024, 5, 20, tzinfo=UTC),
        {1, 2, 3},
        b"\xff\x00",
        (n for n in range(3)),
        "x" * 2_000_000,
        {"nul": "a\x00b", "half": "\ud83d"},
        Odd(),
        [[[[["deep"]]]]],
        {("a", 1): object()},
        list(range(50_000)),
    ],
)
async def test_any_return_value_is_valid_bounded_json(database: Database, value: Any) -> None:
    bench = Bench(database, [tool("any", returning(value))])
    envelope = await bench.one("any")
    assert envelope["status"] == "ok"
    check_envelope(envelope, characters=8_000)
    (row,) = await bench.rows()
    assert row["status"] == "ok"


async def test_a_signal_to_the_graph_is_not_shown_to_the_model(database: Database) -> None:
    reply = ToolReply({"handed_over": True}, {"handoff": {"reason": "angry"}})
    bench = Bench(database, [tool("handoff", returning(reply), effect="write")])
    (outcome,) = await bench.run(call("handoff"))
    assert outcome.signals == {"handoff": {"reason": "angry"}}
    assert "angry" not in str(outcome.envelope)


async def test_a_listener_that_fails_costs_no_call(database: Database) -> None:
    bench = Bench(database, [tool("ok", echo)])

    def emit(event: dict[str, Any]) -> None:
        raise RuntimeError("stream is closed")

    prepared = await bench.prepare(call("ok"))
    (outcome,) = await bench.engine.run(prepared, bench.scope, {}, emit)
    assert outcome.ok


async def test_a_cached_result_is_taken_until_the_user_writes(database: Database) -> None:
    runs = 0

    async def search(args: Arguments, context: ToolContext) -> Any:
        nonlocal runs
        runs += 1
        return {"run": runs}

    bench = Bench(
        database, [tool("search", search, cache_seconds=60), tool("write", returning("ok"), effect="write")]
    )
    assert (await bench.one("search", x=1))["data"] == {"run": 1}
    assert (await bench.one("search", x=1))["data"] == {"run": 1}
    await bench.one("write")
    assert (await bench.one("search", x=1))["data"] == {"run": 2}
    assert len(await bench.rows()) == 4


async def test_the_user_is_told_in_their_language_what_is_going_on(database: Database) -> None:
    spec = tool("probe", echo, progress={"zh": "正在查询 {x}", "en": "looking up {x}"})
    bench = Bench(database, [spec])
    await bench.run(call("probe", "a", x=7), scope=replace(bench.scope, locale="zh-CN"))
    assert bench.events[0] == {
        "type": "tool",
        "phase": "started",
        "tool": "probe",
        "call_id": "a",
        "text": "正在查询 7",
    }
    assert bench.phases("a") == ["started", "finished"]
    await bench.run(call("probe", "b"))
    assert bench.events[2]["text"] == "Working on your request …"
