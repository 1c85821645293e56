"""A turn that reaches a limit ends with an answer that is made without tools, and says why in its state (G7)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_replies import Reply, Request, Usage, tool_call, tool_calls
from tests.support.model_server import ModelServer, RoleQueues
from tests.support.tool_calls import raising, returning, tool
from tests.support.turns import envelopes, talking
from tools.errors import BusinessError, TransientError
from tools.spec import Approval

LAST = "This is as far as I got."


def last_word(request: Request) -> Reply:
    assert "tools" not in request
    assert "<notice>" in request["messages"][-1]["content"]
    return Reply(LAST)


def again_and_again(*, same: bool = False, usage: Usage | str = "auto") -> Any:
    numbers = iter(range(100))

    def play(request: Request) -> Reply:
        if "tools" not in request:
            return last_word(request)
        reply = tool_call("search", {"x": 1 if same else next(numbers)})
        return Reply(calls=reply.calls, usage=usage)

    return play


@pytest.mark.parametrize(
    ("reason", "settings"),
    [
        ("model_calls", {"steward_max_model_calls": 3}),
        ("tool_calls", {"steward_max_tool_calls": 2}),
        ("tokens", {"steward_turn_tokens": 1000}),
    ],
)
async def test_a_limit_ends_the_turn_with_an_answer(
    reason: str,
    settings: dict[str, Any],
    module_database_url: str,
    tmp_path: Path,
    server: ModelServer,
    script: RoleQueues,
) -> None:
    script.add("chat", *[again_and_again(usage=Usage(400, 100))] * 12)
    tools = [tool("search", returning({"found": 1}))]
    async with talking(module_database_url, tmp_path, server, tools, **settings) as talk:
        state = await talk.say("find it")
        assert (state["answer"], state["stopped_because"]) == (LAST, reason)
        await talk.check_thread()
        assert (await talk.say("and now?"))["answer"]


async def test_calls_beyond_the_limit_in_one_message_do_not_run(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    ran: list[int] = []

    async def note(args: Any, context: Any) -> dict[str, Any]:
        ran.append(args["x"])
        return {"noted": args["x"]}

    script.add("chat", tool_calls(*[("search", {"x": n}) for n in range(4)]), last_word)
    limits = {"steward_max_tool_calls": 2}
    async with talking(module_database_url, tmp_path, server, [tool("search", note)], **limits) as talk:
        state = await talk.say("find them")
        assert (state["answer"], state["stopped_because"]) == (LAST, "tool_calls")
        assert sorted(ran) == [0, 1]
        assert [call["error_kind"] for call in state["tool_calls"]] == [None, None, "limit", "limit"]
        await talk.check_thread()


async def test_the_clock_ends_the_turn_with_an_answer(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    async def slow(args: Any, context: Any) -> str:
        await asyncio.sleep(3.1)
        return "found"

    script.add("chat", tool_call("search", {"x": 1}), last_word)
    tools = [tool("search", slow)]
    async with talking(module_database_url, tmp_path, server, tools, steward_turn_seconds=6) as talk:
        state = await talk.say("find it")
    assert (state["answer"], state["stopped_because"]) == (LAST, "time")


async def test_a_model_that_goes_in_circles_is_answered_from_what_it_knows_and_then_stopped(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", *[again_and_again(same=True)] * 4)
    async with talking(
        module_database_url, tmp_path, server, [tool("search", returning({"found": 7}))]
    ) as talk:
        state = await talk.say("find it")
        await talk.check_thread()
    assert (state["answer"], state["stopped_because"]) == (LAST, "repeated_call")
    third = envelopes(state)[2]
    assert (third["error_kind"], third["data"]) == ("limit", {"found": 7})


async def test_the_same_error_twice_ends_the_turn(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("search", {"x": 1}), tool_call("search", {"x": 1}), last_word)
    tools = [tool("search", raising(BusinessError("no such thing")))]
    async with talking(module_database_url, tmp_path, server, tools) as talk:
        state = await talk.say("find it")
        await talk.check_thread()
    assert (state["answer"], state["stopped_because"]) == (LAST, "unrecoverable")


async def test_a_tool_that_is_taken_out_ends_the_turn_unless_a_sibling_succeeded(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add(
        "chat",
        tool_calls(("search", {"x": 1}), ("look", {"x": 1})),
        tool_calls(("search", {"x": 2}), ("look", {"x": 2})),
        tool_call("search", {"x": 3}),
        last_word,
    )
    tools = [tool("search", raising(TransientError("down"))), tool("look", returning(1))]
    async with talking(
        module_database_url,
        tmp_path,
        server,
        tools,
        steward_breaker_failures=1,
        steward_tool_attempts=1,
    ) as talk:
        state = await talk.say("find it")
    assert (state["answer"], state["stopped_because"]) == (LAST, "unrecoverable")
    assert len(envelopes(state)) == 5


async def test_a_call_that_is_denied_twice_ends_the_turn(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("pay", {"x": 1}), tool_call("pay", {"x": 2}), last_word)
    tools = [tool("pay", returning("paid"), effect="write", approval=Approval("customer", "It costs."))]
    async with talking(module_database_url, tmp_path, server, tools) as talk:
        await talk.say("pay")
        await talk.decide({"type": "reject"})
        state = await talk.decide({"type": "reject", "message": "no!"})
        await talk.check_thread()
    assert (state["answer"], state["stopped_because"]) == (LAST, "unrecoverable")
