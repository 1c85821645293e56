"""A side effect happens once: across repeats, forks, crashes and doubt."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest
from langchain_core.messages import AIMessage

from memory.database import Database
from memory.erase import forget_user
from tests.support.tool_calls import Bench, call, raising, returning, tool
from tools.calls import Decision
from tools.errors import BusinessError
from tools.keys import idempotency_key
from tools.ledger import ERASURE, RETENTION, Ledger
from tools.spec import Approval, Arguments, ToolContext, ToolReply


class Effects:
    """Something outside that remembers what was done to it."""

    def __init__(self, *after: BaseException | None) -> None:
        self.done: list[str] = []
        self._after = list(after)

    async def run(self, args: Arguments, context: ToolContext) -> Any:
        self.done.append(context.idempotency_key)
        if self._after and (error := self._after.pop(0)):
            raise error
        return {"ticket": f"T-{len(self.done)}"}

    async def settle(self, key: str, args: Arguments, context: ToolContext) -> Any:
        return {"ticket": "T-found"} if key in self.done else None


async def claim_and_die(bench: Bench, name: str, call_id: str, **args: Any) -> None:
    """What a process leaves behind that is killed between claim and outcome."""
    spec = bench.engine.registry.get(name)
    assert spec is not None
    key = idempotency_key(bench.scope, name, args)
    ledger = Ledger(bench.database)
    before = await ledger.claim(bench.scope, name, call_id, args, key, attempt=1, may_repeat=spec.can_repeat)
    assert before is None


async def test_the_claim_is_committed_before_and_the_outcome_after(database: Database) -> None:
    seen: list[Any] = []

    async def look(args: Arguments, context: ToolContext) -> Any:
        seen.extend(
            await database.fetch(
                "SELECT status, call_id FROM tool_call WHERE idempotency_key = %s", (context.idempotency_key,)
            )
        )
        return {"ticket": "T-1"}

    bench = Bench(database, [tool("open", look, effect="write", identifiers=("ticket",))])
    await bench.run(call("open", "a", x=1))
    assert seen == [{"status": "running", "call_id": "a"}]
    (row,) = await bench.rows()
    assert (row["status"], row["result"], row["identifiers"]) == ("ok", {"ticket": "T-1"}, ["T-1"])
    assert row["finished_at"] >= row["started_at"]
    assert row["arguments"] == {"x": 1}


async def test_a_recorded_call_is_not_run_again_whatever_id_it_comes_under(database: Database) -> None:
    effects = Effects()
    bench = Bench(database, [tool("open", effects.run, effect="write")])
    (first,) = await bench.run(call("open", "a", x=1))
    (fork,) = await bench.run(call("open", "other", x=1))
    assert len(effects.done) == 1
    assert fork.envelope == first.envelope


@pytest.mark.parametrize("changed", ["args", "turn", "thread"])
async def test_another_call_is_another_effect_even_under_the_same_id(
    database: Database, changed: str
) -> None:
    effects = Effects()
    bench = Bench(database, [tool("open", effects.run, effect="write")])
    await bench.run(call("open", "a", x=1))
    other = {
        "args": bench.scope,
        "turn": replace(bench.scope, turn_id="next"),
        "thread": replace(bench.scope, thread_id="other"),
    }[changed]
    await bench.run(call("open", "a", x=2 if changed == "args" else 1), scope=other)
    assert len(effects.done) == 2


async def test_a_claim_without_an_outcome_is_in_doubt_and_not_run(database: Database) -> None:
    effects = Effects()
    bench = Bench(database, [tool("open", effects.run, effect="write")])
    await claim_and_die(bench, "open", "a", x=1)
    (outcome,) = await bench.run(call("open", "a", x=1))
    assert (outcome.envelope["error_kind"], outcome.envelope["retryable"]) == ("in_doubt", False)
    assert not outcome.transient
    assert not effects.done
    (row,) = await bench.rows()
    assert (row["status"], row["error_kind"]) == ("error", "in_doubt")
    assert (await bench.one("open", x=1))["error_kind"] == "in_doubt"
    assert not effects.done


async def test_the_tools_own_check_settles_a_claim_that_took_effect(database: Database) -> None:
    effects = Effects()
    bench = Bench(database, [tool("open", effects.run, effect="write", settle=effects.settle)])
    await claim_and_die(bench, "open", "a", x=1)
    effects.done.append(idempotency_key(bench.scope, "open", {"x": 1}))
    assert (await bench.one("open", x=1))["data"] == {"ticket": "T-found"}
    assert len(effects.done) == 1
    (row,) = await bench.rows()
    assert row["status"] == "ok"


async def test_the_tools_own_check_lets_a_claim_without_effect_run(database: Database) -> None:
    effects = Effects()
    bench = Bench(database, [tool("open", effects.run, effect="write", settle=effects.settle)])
    await claim_and_die(bench, "open", "a", x=1)
    assert (await bench.one("open", x=1))["data"] == {"ticket": "T-1"}
    assert len(effects.done) == 1


async def test_two_that_find_the_same_open_claim_do_not_both_run_it(database: Database) -> None:
    effects = Effects()
    both_looked = asyncio.Barrier(2)

    async def settle(key: str, args: Arguments, context: ToolContext) -> Any:
        await both_looked.wait()

    bench = Bench(database, [tool("open", effects.run, effect="write", settle=settle)])
    await claim_and_die(bench, "open", "a", x=1)
    envelopes = await asyncio.gather(bench.one("open", x=1), bench.one("open", x=1))
    assert len(effects.done) == 1
    assert {envelope.get("error_kind") for envelope in envelopes} <= {None, "in_doubt"}


async def test_a_check_that_fails_leaves_the_doubt(database: Database) -> None:
    async def settle(key: str, args: Arguments, context: ToolContext) -> Any:
        raise ConnectionResetError

    effects = Effects()
    bench = Bench(database, [tool("open", effects.run, effect="write", settle=settle)])
    await claim_and_die(bench, "open", "a", x=1)
    assert (await bench.one("open", x=1))["error_kind"] == "in_doubt"
    assert not effects.done


@pytest.mark.parametrize(
    "error", [TimeoutError(), ConnectionResetError(), httpx.ReadError("gone"), RuntimeError("after the fact")]
)
async def test_a_failure_after_which_nobody_knows_is_in_doubt_and_not_repeated(
    database: Database, error: Exception
) -> None:
    effects = Effects(error)
    bench = Bench(database, [tool("pay", effects.run, effect="write")])
    assert (await bench.one("pay", x=1))["error_kind"] == "in_doubt"
    assert (await bench.one("pay", x=1))["error_kind"] == "in_doubt"
    assert len(effects.done) == 1


async def test_a_side_effect_that_runs_out_of_time_is_in_doubt(database: Database) -> None:
    async def slow(args: Arguments, context: ToolContext) -> None:
        await asyncio.sleep(60)

    bench = Bench(database, [tool("pay", slow, effect="write", timeout=0.05)])
    (outcome,) = await bench.run(call("pay", x=1))
    assert (outcome.envelope["error_kind"], outcome.transient) == ("in_doubt", False)


@pytest.mark.parametrize(
    "error", [BusinessError("Shipped already."), ConnectionRefusedError(), httpx.ConnectError("refused")]
)
async def test_a_failure_after_which_nothing_was_done_may_be_called_again(
    database: Database, error: Exception
) -> None:
    effects = Effects(error)
    bench = Bench(database, [tool("pay", effects.run, effect="write")])
    assert (await bench.one("pay", x=1))["error_kind"] in ("business", "unavailable")
    assert (await bench.one("pay", x=1))["data"] == {"ticket": "T-2"}
    assert [row["status"] for row in await bench.rows()] == ["error", "ok"]


async def test_a_side_effect_that_is_safe_to_repeat_is_retried_under_the_same_key(database: Database) -> None:
    effects = Effects(ConnectionResetError())
    bench = Bench(database, [tool("put", effects.run, effect="write", repeatable=True)])
    (first,) = await bench.run(call("put", "a", x=1))
    assert first.transient
    (second,) = await bench.run(call("put", "a", x=1), scope=replace(bench.scope, attempts={"a": 1}))
    assert second.ok
    assert len(effects.done) == 2
    assert len(set(effects.done)) == 1
    (row,) = await bench.rows()
    assert (row["attempt"], row["status"]) == (2, "ok")


async def test_cancellation_while_a_side_effect_runs_leaves_the_claim_open(database: Database) -> None:
    running = asyncio.Event()

    async def slow(args: Arguments, context: ToolContext) -> None:
        running.set()
        await asyncio.sleep(60)

    bench = Bench(database, [tool("pay", slow, effect="write")])
    task = asyncio.create_task(bench.run(call("pay", "a", x=1)))
    await running.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (row,) = await bench.rows()
    assert row["status"] == "running"
    assert (await bench.one("pay", x=1))["error_kind"] == "in_doubt"


async def test_cancellation_right_after_a_side_effect_does_not_lose_its_outcome(database: Database) -> None:
    bench = Bench(database, [tool("pay", returning({"ticket": "T-1"}), effect="write")])
    complete = bench.engine._ledger.complete
    completing, task_to_cancel = asyncio.Event(), asyncio.Event()

    async def slow_complete(*args: Any, **more: Any) -> None:
        completing.set()
        await task_to_cancel.wait()
        await complete(*args, **more)

    bench.engine._ledger.complete = slow_complete  # type: ignore[method-assign]
    task = asyncio.create_task(bench.run(call("pay", x=1)))
    await completing.wait()
    task.cancel()
    await asyncio.sleep(0)
    task_to_cancel.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    (row,) = await bench.rows()
    assert (row["status"], row["result"]) == ("ok", {"ticket": "T-1"})


async def test_without_a_ledger_no_side_effect_begins_and_a_look_up_still_answers(database_url: str) -> None:
    effects = Effects()
    async with Database(database_url, size=1, wait_seconds=0.5) as database:
        bench = Bench(
            database, [tool("pay", effects.run, effect="write"), tool("look", returning({"order": "A-1"}))]
        )
        prepared = await bench.prepare(call("pay", x=1), call("look"))
        await database.pool.close()
        pay, look = await bench.engine.run(prepared, bench.scope, {}, bench.events.append)
    assert not effects.done
    assert (pay.envelope["error_kind"], pay.envelope["retryable"], pay.transient) == (
        "unavailable",
        True,
        True,
    )
    assert look.envelope == {"status": "ok", "data": {"order": "A-1"}}


def calls_message(*calls: tuple[str, str]) -> AIMessage:
    return AIMessage(
        "", tool_calls=[{"id": id, "name": name, "args": {"x": 1}, "type": "tool_call"} for id, name in calls]
    )


async def test_an_interrupted_turn_is_mended_from_what_is_recorded(database: Database) -> None:
    effects = Effects()
    tools = [
        tool("open", effects.run, effect="write"),
        tool("cancel", raising(BusinessError("Shipped already.")), effect="write"),
        tool("pay", effects.run, effect="write"),
        tool("ship", effects.run, effect="write", settle=effects.settle),
        tool("look", returning([1, 2])),
        tool("never", returning(None)),
    ]
    bench = Bench(database, tools)
    done = await bench.run(call("open", "a", x=1), call("cancel", "b", x=1), call("look", "e", x=1))
    await claim_and_die(bench, "pay", "c", x=1)
    await claim_and_die(bench, "ship", "d", x=1)
    message = calls_message(
        ("a", "open"), ("b", "cancel"), ("c", "pay"), ("d", "ship"), ("e", "look"), ("f", "never")
    )
    next_turn = replace(bench.scope, turn_id="next")
    found = await bench.engine.recorded(message, next_turn)
    assert set(found) == set("abcde")
    assert [found[outcome.id] for outcome in done] == [outcome.envelope for outcome in done]
    assert found["c"]["error_kind"] == "in_doubt"
    assert (found["d"]["error_kind"], found["d"]["error_desc"]) == (
        "cancelled",
        "ship was cut off before it had done anything.",
    )
    assert len(effects.done) == 1
    assert not await bench.engine.recorded(message, replace(next_turn, user_id="user_12_"))


async def test_what_was_found_in_doubt_stays_so_for_whoever_mends_the_turn(database: Database) -> None:
    effects = Effects(TimeoutError())
    bench = Bench(
        database, [tool("open", effects.run, effect="write"), tool("pay", effects.run, effect="write")]
    )
    await claim_and_die(bench, "open", "a", x=1)
    await bench.run(call("open", "a", x=1), call("open", "b", x=1), call("pay", "c", x=1))
    found = await bench.engine.recorded(
        calls_message(("a", "open"), ("b", "open"), ("c", "pay")), bench.scope
    )
    assert [found[id]["error_kind"] for id in "abc"] == ["in_doubt"] * 3


async def test_a_persons_answer_is_recorded_as_the_result(database: Database) -> None:
    approval = Approval("staff", "why")
    bench = Bench(database, [tool("pay", returning(1), effect="write", approval=approval)])
    decision: Decision = {"type": "respond", "by": "staff", "message": "later"}
    (outcome,) = await bench.run(call("pay", "a", x=1), decisions={"a": decision})
    found = await bench.engine.recorded(calls_message(("a", "pay")), bench.scope)
    assert found == {"a": outcome.envelope}


async def test_a_signal_of_a_recorded_call_is_not_lost(database: Database) -> None:
    reply = ToolReply({"done": True}, {"handoff": {"reason": "angry"}})
    bench = Bench(database, [tool("handoff", returning(reply), effect="write")])
    await bench.run(call("handoff", "a"))
    (again,) = await bench.run(call("handoff", "a"))
    assert again.signals == {"handoff": {"reason": "angry"}}


async def test_a_user_is_erased_from_the_ledger_and_another_is_not(database: Database) -> None:
    bench = Bench(database, [tool("look", returning([1]))])
    await bench.one("look")
    await bench.run(call("look"), scope=replace(bench.scope, user_id="user_12_"))
    await forget_user(database, "user_123", [ERASURE])
    assert {row["user_id"] for row in await bench.rows()} == {"user_12_"}


async def test_what_has_outlived_its_retention_goes(database: Database) -> None:
    bench = Bench(database, [tool("look", returning([1]))])
    await bench.one("look")
    (row,) = await bench.rows()
    await database.execute(RETENTION, {"ledger": row["started_at"]})
    assert len(await bench.rows()) == 1
    await database.execute(RETENTION, {"ledger": row["started_at"] + timedelta(seconds=1)})
    assert not await bench.rows()


class Counting(Database):
    """A database that counts the statements it is asked for."""

    statements = 0

    async def fetch_one(self, query: Any, params: Any = None) -> Any:
        self.statements += 1
        return await super().fetch_one(query, params)

    async def execute(self, query: Any, params: Any = None) -> int:
        self.statements += 1
        return await super().execute(query, params)

    async def fetch(self, query: Any, params: Any = None) -> Any:
        self.statements += 1
        return await super().fetch(query, params)


async def test_a_side_effect_costs_two_statements_and_any_number_of_look_ups_one(database_url: str) -> None:
    async with Counting(database_url, size=2) as database:
        bench = Bench(
            database, [tool("pay", returning(1), effect="write"), tool("look", returning({"order": "A-1"}))]
        )
        await bench.run(call("pay", x=1))
        assert database.statements == 2
        await bench.run(*(call("look", x=number) for number in range(5)))
        assert database.statements == 3
        await bench.run(call("pay", x=2), call("look", x=9), call("nobody"))
        assert database.statements == 6
