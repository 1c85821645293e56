"""Roles that answer in JSON, in each of the three ways of asking for it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage

from nodes.answers import (
    CompactorAnswer,
    ExtractorAnswer,
    ReviewerAnswer,
    RouterAnswer,
    SummariserAnswer,
)
from nodes.endpoint import ModelUnavailable
from nodes.structured import StructuredFailure, ask_structured
from tests.support.model_clients import models_for, within
from tests.support.model_replies import (
    Call,
    Reply,
    Usage,
    compactor_reply,
    empty,
    extractor_reply,
    refused_parameter,
    reviewer_reply,
    router_reply,
    server_error,
    structured,
    summariser_reply,
    tool_call,
)
from tests.support.model_server import ModelServer, RoleQueues

MODES = ["function_calling", "json_schema", "json_mode"]
PROMPT = [SystemMessage("Sort the message. Answer as JSON."), HumanMessage("我要退货，顺便问下快递")]
ANSWER = '{"intents": [{"name": "aftersale", "confidence": 0.9}]}'

every_mode = pytest.mark.parametrize("mode", MODES)


@every_mode
async def test_every_role_is_understood_in_every_mode(
    server: ModelServer, script: RoleQueues, mode: str
) -> None:
    memory = {"key": "delivery_day", "content": "周六不送货", "type": "preference", "confidence": 0.9}
    script.add("router", lambda r: router_reply(r, ("aftersale", 0.9), ("logistics", 0.7)))
    script.add("reviewer", lambda r: reviewer_reply(r, revised="更正后的回答", problems=["金额不对"]))
    script.add("extractor", lambda r: extractor_reply(r, memory))
    script.add("summariser", lambda r: summariser_reply(r, "客户要退货", allergy="peanuts"))
    script.add("compactor", lambda r: compactor_reply(r, {"orders": 3}))
    async with models_for(server, steward_structured_output=mode) as models:
        router, _ = await ask_structured(models, "router", RouterAnswer, PROMPT, deadline=within(5))
        reviewer, _ = await ask_structured(models, "reviewer", ReviewerAnswer, PROMPT, deadline=within(5))
        extractor, _ = await ask_structured(models, "extractor", ExtractorAnswer, PROMPT, deadline=within(5))
        summary, _ = await ask_structured(models, "summariser", SummariserAnswer, PROMPT, deadline=within(5))
        digest, _ = await ask_structured(models, "compactor", CompactorAnswer, PROMPT, deadline=within(5))
    assert [(i.name, i.confidence) for i in router.intents] == [("aftersale", 0.9), ("logistics", 0.7)]
    assert (reviewer.verdict, reviewer.answer, reviewer.problems) == ("REVISED", "更正后的回答", ["金额不对"])
    assert extractor.memories[0].content == "周六不送货"
    assert (summary.summary, summary.key_facts) == ("客户要退货", {"allergy": "peanuts"})
    assert digest.digest == {"orders": 3}


@every_mode
@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply(ANSWER), id="bare"),
        pytest.param(Reply(f"```json\n{ANSWER}\n```"), id="fenced"),
        pytest.param(Reply(f"Sure! Here is it:\n{ANSWER}\nHope {{that}} helps."), id="between prose"),
        pytest.param(Reply(f"<think>maybe {{}}</think>{ANSWER}"), id="after reasoning"),
        pytest.param(Reply(f'{{"name": "router_answer", "arguments": {ANSWER}}}'), id="call as text"),
        pytest.param(Reply([{"type": "text", "text": ANSWER}]), id="blocks"),
        pytest.param(tool_call("router_answer", ANSWER), id="forced call"),
        pytest.param(tool_call("RouterAnswer", ANSWER), id="call of another name"),
        pytest.param(tool_call("router_answer", f"{ANSWER}}}"), id="call with a brace too many"),
        pytest.param(Reply(ANSWER.replace('"', "'")), id="single quotes"),
        pytest.param(Reply(ANSWER.replace("0.9}", "0.9,}")), id="comma too many"),
        pytest.param(Reply(ANSWER, calls=[Call("router_answer", "")]), id="empty call beside content"),
    ],
)
async def test_the_object_is_found_whatever_it_is_wrapped_in(
    server: ModelServer, script: RoleQueues, mode: str, reply: Reply
) -> None:
    script.add("router", reply)
    async with models_for(server, steward_structured_output=mode) as models:
        answer, taken = await ask_structured(models, "router", RouterAnswer, PROMPT, deadline=within(5))
    assert answer.intents[0].name == "aftersale"
    assert taken.attempts == 1


@every_mode
@pytest.mark.parametrize(
    "unusable",
    [
        Reply("I think it is an order."),
        Reply('{"intents": []}'),
        Reply('{"intents": [{"name": "order", "confidence": 7}]}'),
        Reply('{"intents": ["order"]}'),
        Reply('{"intents": [{"name": "order", "confidence": 0.9'),
        tool_call("router_answer", '{"intents": [{"name": "or'),
    ],
)
async def test_an_unusable_answer_is_sent_back_once_with_its_fault(
    server: ModelServer, script: RoleQueues, mode: str, unusable: Reply
) -> None:
    script.add("router", unusable, lambda r: router_reply(r, ("order", 0.8)))
    async with models_for(server, steward_structured_output=mode) as models:
        answer, reply = await ask_structured(models, "router", RouterAnswer, PROMPT, deadline=within(5))
    assert answer.intents[0].name == "order"
    assert (reply.attempts, len(reply.calls)) == (2, 2)
    said, fault = server.requests[1]["messages"][-2:]
    assert (said["role"], fault["role"]) == ("assistant", "user")
    assert "could not be used" in fault["content"]


async def test_the_fault_names_the_field(server: ModelServer, script: RoleQueues) -> None:
    script.add("router", Reply('{"intents": [{"name": "order"}]}'), Reply(ANSWER))
    async with models_for(server) as models:
        await ask_structured(models, "router", RouterAnswer, PROMPT, deadline=within(5))
    assert "intents.0.confidence" in server.requests[1]["messages"][-1]["content"]


async def test_unusable_twice_is_a_failed_call_with_its_cost(server: ModelServer, script: RoleQueues) -> None:
    script.add("router", *[Reply("I cannot say.", usage=Usage(100, 5))] * 2)
    async with models_for(server) as models:
        with pytest.raises(StructuredFailure, match="STEWARD_STRUCTURED_OUTPUT") as caught:
            await ask_structured(models, "router", RouterAnswer, PROMPT, deadline=within(5))
    assert caught.value.reply.usage.prompt_tokens == 200


async def test_silence_is_a_failed_call(server: ModelServer, script: RoleQueues) -> None:
    script.add("router", empty(), empty())
    async with models_for(server) as models:
        with pytest.raises(StructuredFailure, match="said nothing"):
            await ask_structured(models, "router", RouterAnswer, PROMPT, deadline=within(5))


async def test_an_endpoint_that_is_down_is_told_apart_from_a_bad_answer(
    server: ModelServer, script: RoleQueues
) -> None:
    script.add("router", *[server_error()] * 2)
    script.add("chat", *[server_error()] * 2)
    async with models_for(server) as models:
        with pytest.raises(ModelUnavailable):
            await ask_structured(models, "router", RouterAnswer, PROMPT, deadline=within(5))


@pytest.mark.parametrize(
    ("mode", "refused"),
    [
        ("function_calling", "tool_choice"),
        ("json_schema", "response_format"),
        ("json_mode", "response_format"),
    ],
)
async def test_a_model_that_knows_no_forced_form_is_asked_without_it(
    server: ModelServer, mode: str, refused: str
) -> None:
    def script(request: dict[str, Any]) -> Reply:
        return refused_parameter(refused) if refused in request else structured(request, json.loads(ANSWER))

    server.script = script
    async with models_for(server, steward_structured_output=mode) as models:
        answer, reply = await ask_structured(models, "router", RouterAnswer, PROMPT, deadline=within(5))
    assert answer.intents[0].name == "aftersale"
    assert reply.attempts == 2


@every_mode
async def test_each_mode_asks_in_its_own_way(server: ModelServer, script: RoleQueues, mode: str) -> None:
    script.add("router", Reply(ANSWER))
    async with models_for(server, steward_structured_output=mode, steward_strict_tools="on") as models:
        await ask_structured(models, "router", RouterAnswer, PROMPT, deadline=within(5))
    [request] = server.requests
    if mode == "function_calling":
        [tool] = request["tools"]
        assert request["tool_choice"]["function"]["name"] == tool["function"]["name"] == "router_answer"
        assert tool["function"]["strict"] is True
        assert tool["function"]["parameters"]["additionalProperties"] is False
    elif mode == "json_schema":
        form = request["response_format"]["json_schema"]
        assert (form["name"], form["strict"]) == ("router_answer", True)
    else:
        assert request["response_format"] == {"type": "json_object"}
        assert '"confidence"' in request["messages"][0]["content"]


async def test_the_strict_flag_is_left_out_where_the_form_has_free_keys(
    server: ModelServer, script: RoleQueues
) -> None:
    script.add("summariser", lambda r: summariser_reply(r, "summary"))
    async with models_for(server, steward_strict_tools="on") as models:
        await ask_structured(models, "summariser", SummariserAnswer, PROMPT, deadline=within(5))
    assert "strict" not in json.dumps(server.requests[0])
