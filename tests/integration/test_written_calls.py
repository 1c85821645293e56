"""Tool calls come through as the model wrote them, streamed or not."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from nodes.endpoint import ask
from tests.support.model_clients import QUESTION, TOOL, Watcher, models_for, within
from tests.support.model_replies import Call, Reply, tool_call
from tests.support.model_server import ModelServer, RoleQueues

pytestmark = pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])


async def answered(server: ModelServer, streamed: bool) -> AIMessage:
    async with models_for(server) as models:
        watcher = Watcher() if streamed else None
        reply = await ask(models, "chat", QUESTION, tools=[TOOL], deadline=within(5), on_text=watcher)
    return reply.message


@pytest.mark.parametrize(
    "text",
    ['{"city": "Par', "[1, 2]", '"x"', "{'order_id': 'A'}", '{"a": NaN}', '{"x": 1}{"x": 2}', "true", "{}}"],
)
async def test_arguments_that_are_no_json_object_keep_their_text(
    server: ModelServer, script: RoleQueues, streamed: bool, text: str
) -> None:
    script.add("chat", tool_call("order_query", text))
    message = await answered(server, streamed)
    assert not message.tool_calls
    [call] = message.invalid_tool_calls
    assert (call["name"], call["args"]) == ("order_query", text)
    assert call["id"]


@pytest.mark.parametrize("arguments", ["", None, "null", "{}", " "])
async def test_no_arguments_are_an_empty_object(
    server: ModelServer, script: RoleQueues, streamed: bool, arguments: str | None
) -> None:
    script.add("chat", Reply(calls=[Call("order_query", arguments)]))
    message = await answered(server, streamed)
    assert [call["args"] for call in message.tool_calls] == [{}]
    assert not message.invalid_tool_calls


async def test_a_call_cut_off_before_its_arguments_is_not_one_without_arguments(
    server: ModelServer, script: RoleQueues, streamed: bool
) -> None:
    script.add("chat", Reply(calls=[Call("order_query", "")], finish_reason="length"))
    message = await answered(server, streamed)
    assert not message.tool_calls
    assert [call["args"] for call in message.invalid_tool_calls] == [""]


async def test_good_and_bad_calls_of_one_message_are_told_apart(
    server: ModelServer, script: RoleQueues, streamed: bool
) -> None:
    calls = [
        Call("order_query", {"order_id": "订单一"}),
        Call("order_query", '{"order_id": '),
        Call("stock", {"n": 2}),
    ]
    script.add("chat", Reply("我来查一下。", calls=calls))
    message = await answered(server, streamed)
    assert [call["args"] for call in message.tool_calls] == [{"order_id": "订单一"}, {"n": 2}]
    assert [call["args"] for call in message.invalid_tool_calls] == ['{"order_id": ']
    assert message.text == "我来查一下。"


async def test_parallel_calls_under_one_index_are_parted_by_their_ids(
    server: ModelServer, script: RoleQueues, streamed: bool
) -> None:
    calls = [Call("order_query", {"order_id": "A"}), Call("order_query", {"order_id": "B"})]
    script.add("chat", Reply(calls=calls, same_index=True))
    message = await answered(server, streamed)
    assert [call["args"] for call in message.tool_calls] == [{"order_id": "A"}, {"order_id": "B"}]


async def test_parallel_calls_under_one_index_without_ids_are_parted_by_their_names(
    server: ModelServer, script: RoleQueues, streamed: bool
) -> None:
    calls = [Call("order_query", {"order_id": "A"}, id=None), Call("stock", {"sku": "B"}, id=None)]
    script.add("chat", Reply(calls=calls, same_index=True))
    message = await answered(server, streamed)
    assert [(call["name"], call["args"], call["id"]) for call in message.tool_calls] == [
        ("order_query", {"order_id": "A"}, None),
        ("stock", {"sku": "B"}, None),
    ]


async def test_ids_are_handed_on_as_they_came(
    server: ModelServer, script: RoleQueues, streamed: bool
) -> None:
    calls: list[Any] = [Call("order_query", {}, id="call_1"), Call("order_query", {}, id="call_1")]
    script.add("chat", Reply(calls=calls))
    message = await answered(server, streamed)
    assert [call["id"] for call in message.tool_calls] == ["call_1", "call_1"]
