"""What a model refuses or demands is learned once, and its reasoning reaches nobody."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from nodes.endpoint import ModelUnavailable, ask
from tests.support.model_clients import QUESTION, TOOL, Watcher, models_for, within
from tests.support.model_replies import Reply, Request, failure, refused_parameter, tool_call
from tests.support.model_server import ModelServer, RoleQueues

STRICT_TOOL = {"type": "function", "function": {**TOOL["function"], "strict": True}}


def refusing(*names: str) -> Any:
    """A model that objects to each of some parameters."""

    def answer(request: Request) -> Reply:
        for name in names:
            if name in request or (name == "strict" and '"strict"' in json.dumps(request["tools"])):
                return refused_parameter(name)
        return Reply("好的")

    return answer


@pytest.mark.parametrize(
    ("names", "extra"),
    [
        (["temperature"], {}),
        (["parallel_tool_calls"], {"tools": [TOOL]}),
        (["stream_options"], {"on_text": Watcher()}),
        (["response_format"], {"response_format": {"type": "json_object"}}),
        (["strict"], {"tools": [STRICT_TOOL]}),
        (["tool_choice"], {"tools": [TOOL], "tool_choice": "required"}),
        (["max_tokens"], {"max_tokens": 100}),
        (["temperature", "parallel_tool_calls", "strict"], {"tools": [STRICT_TOOL]}),
    ],
)
async def test_a_refused_parameter_is_dropped_once_and_remembered(
    server: ModelServer, names: list[str], extra: dict[str, Any]
) -> None:
    server.script = refusing(*names)
    async with models_for(server) as models:
        first = await ask(models, "chat", QUESTION, deadline=within(5), **extra)
        second = await ask(models, "chat", QUESTION, deadline=within(5), **extra)
    assert first.message.text == second.message.text == "好的"
    assert first.attempts == len(names) + 1
    assert second.attempts == 1


async def test_a_refused_max_tokens_is_sent_under_its_newer_name(server: ModelServer) -> None:
    server.script = refusing("max_tokens")
    async with models_for(server) as models:
        await ask(models, "chat", QUESTION, deadline=within(5), max_tokens=100)
    assert [(r.get("max_tokens"), r.get("max_completion_tokens")) for r in server.requests] == [
        (100, None),
        (None, 100),
    ]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "invalid temperature: only 1 is allowed for this model"),
        (
            422,
            "[{'type': 'extra_forbidden', 'loc': ('body', 'temperature'), 'msg': 'Extra inputs are not permitted'}]",
        ),
    ],
)
async def test_a_refusal_is_understood_without_openai_s_error_fields(
    server: ModelServer, script: RoleQueues, status: int, said: str
) -> None:
    script.add("chat", failure(status, said), Reply("ok"))
    async with models_for(server) as models:
        await ask(models, "chat", QUESTION, deadline=within(5))
    assert "temperature" not in server.requests[1]


async def test_what_one_model_refuses_another_still_gets(server: ModelServer, script: RoleQueues) -> None:
    script.add("chat", refused_parameter("temperature"), Reply("ok"))
    script.add("router", Reply("ok"))
    async with models_for(server) as models:
        await ask(models, "chat", QUESTION, deadline=within(5))
        await ask(models, "router", QUESTION, deadline=within(5))
    assert server.requests_of("router")[0]["temperature"] == 0


async def test_a_bad_request_that_no_dropping_helps_is_not_remembered(
    server: ModelServer, script: RoleQueues
) -> None:
    said = "Messages about temperature are invalid"
    script.add("chat", failure(400, said), failure(400, said), Reply("ok"))
    async with models_for(server) as models:
        with pytest.raises(ModelUnavailable, match="refused the request"):
            await ask(models, "chat", QUESTION, deadline=within(5))
        await ask(models, "chat", QUESTION, deadline=within(5))
    assert "temperature" in server.requests[-1]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply("您的包裹在上海。", reasoning="用户问包裹"), id="own field"),
        pytest.param(Reply("<think>用户问包裹</think>\n\n您的包裹在上海。"), id="tagged"),
        pytest.param(
            Reply("<think>\n用户问\n包裹</think>您的<think>嗯</think>包裹在上海。"), id="tagged twice"
        ),
    ],
)
async def test_reasoning_reaches_neither_answer_nor_watcher_nor_the_next_request(
    server: ModelServer, script: RoleQueues, reply: Reply, streamed: bool
) -> None:
    script.add("chat", reply, Reply("ok"))
    watcher = Watcher()
    async with models_for(server) as models:
        first = await ask(models, "chat", QUESTION, deadline=within(5), on_text=watcher if streamed else None)
        assert first.message.text == "您的包裹在上海。"
        assert watcher.shown == ("您的包裹在上海。" if streamed else "")
        assert "用户问" not in first.message.model_dump_json()
        history = [*QUESTION, first.message, HumanMessage("谢谢")]
        await ask(models, "chat", history, deadline=within(5))
    assert "用户问" not in json.dumps(server.requests[1], ensure_ascii=False)


async def test_reasoning_that_begins_without_a_tag_is_taken_back_and_held_back_from_then_on(
    server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", *[Reply("The user wants the parcel.</think>\n\nIt is in Shanghai.")] * 2)
    async with models_for(server) as models:
        surprised, prepared = Watcher(), Watcher()
        for watcher in (surprised, prepared):
            reply = await ask(models, "chat", QUESTION, deadline=within(5), on_text=watcher)
            assert reply.message.text == watcher.shown == "It is in Shanghai."
    assert surprised.void
    assert not prepared.void


async def test_reasoning_is_sent_back_to_a_model_that_demands_it(
    server: ModelServer, script: RoleQueues
) -> None:
    demand = failure(400, "The `reasoning_content` in the thinking mode must be passed back to the API.")
    call = tool_call("order_query", {"order_id": "A-1"})
    script.add(
        "chat",
        Reply(calls=call.calls, reasoning="I need the order."),
        demand,
        Reply("Shipped.", reasoning="So it is shipped."),
        Reply("ok"),
    )
    async with models_for(server) as models:
        first = await ask(models, "chat", QUESTION, tools=[TOOL], deadline=within(5))
        call_id = first.message.tool_calls[0]["id"]
        history = [*QUESTION, first.message, ToolMessage('{"status": "ok"}', tool_call_id=call_id)]
        second = await ask(models, "chat", history, tools=[TOOL], deadline=within(5))
        older = AIMessage("From before a restart", id="older")
        await ask(
            models,
            "chat",
            [*QUESTION, older, *history[2:], second.message, HumanMessage("?")],
            deadline=within(5),
        )
    assert "reasoning_content" not in json.dumps(server.requests[1])
    assert server.requests[2]["messages"][2]["reasoning_content"] == "I need the order."
    sent = [m.get("reasoning_content") for m in server.requests[3]["messages"] if m["role"] == "assistant"]
    assert sent == ["", "I need the order.", "So it is shipped."]
    assert second.attempts == 2
