"""Asking a model over HTTP: retries, time limits, fallbacks, and what each fault of an endpoint comes to."""

from __future__ import annotations

import json
import time

import pytest

from nodes.endpoint import ContextOverflow, ModelUnavailable, ask
from nodes.models import Backoff
from tests.support.model_clients import QUESTION, TOOL, Watcher, models_for, within
from tests.support.model_replies import (
    Reply,
    Usage,
    context_overflow,
    dropped,
    empty,
    failure,
    rate_limited,
    refusal,
    server_error,
    tool_call,
    unknown_model,
    wrong_key,
)
from tests.support.model_server import ModelServer, RoleQueues


async def test_an_answer_comes_with_its_figures(server: ModelServer, script: RoleQueues) -> None:
    script.add("chat", Reply("您的包裹在上海。", usage=Usage(120, 9, cached=100, reasoning=3)))
    async with models_for(server) as models:
        reply = await ask(models, "chat", QUESTION, deadline=within(5), message_id="answer-1")
    assert reply.message.text == "您的包裹在上海。"
    assert reply.message.id == "answer-1"
    assert (reply.model, reply.attempts) == ("chat", 1)
    usage = reply.usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (120, 9)
    assert (usage.cached_tokens, usage.reasoning_tokens, usage.estimated) == (100, 3, False)


async def test_each_role_asks_its_own_model_at_its_own_temperature(
    server: ModelServer, script: RoleQueues
) -> None:
    for role in ("chat", "router", "reviewer"):
        script.add(role, Reply("ok"))
    async with models_for(server, steward_reviewer_temperature=0.1) as models:
        for role in ("chat", "router", "reviewer"):
            await ask(models, role, QUESTION, deadline=within(5))  # type: ignore[arg-type]
    assert [(r["model"], r["temperature"]) for r in server.requests] == [
        ("chat", 0.4),
        ("router", 0.0),
        ("reviewer", 0.1),
    ]


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(server_error(500), id="500"),
        pytest.param(server_error(503), id="503"),
        pytest.param(rate_limited(), id="429"),
        pytest.param(dropped("The parcel is in Shanghai."), id="dropped"),
        pytest.param(Reply(body=b"<html>gateway</html>"), id="html"),
        pytest.param(Reply(body=b'{"choices": null}'), id="null choices"),
        pytest.param(Reply(body=b'{"choices": []}'), id="no choices"),
        pytest.param(Reply(body=b'{"error": {"message": "overloaded"}}'), id="error with status 200"),
        pytest.param(Reply(body=b'{"choices": [{"index": 0, "mess'), id="broken json"),
    ],
)
async def test_a_passing_fault_is_tried_again(server: ModelServer, script: RoleQueues, fault: Reply) -> None:
    script.add("chat", fault, Reply("It is in Shanghai."))
    async with models_for(server) as models:
        reply = await ask(models, "chat", QUESTION, deadline=within(5))
    assert reply.message.text == "It is in Shanghai."
    assert reply.attempts == len(server.requests) == 2


async def test_retry_after_is_honoured(server: ModelServer, script: RoleQueues) -> None:
    script.add("chat", rate_limited(retry_after=1), Reply("ok"))
    async with models_for(server) as models:
        started = time.monotonic()
        await ask(models, "chat", QUESTION, deadline=within(10))
    assert 1.0 <= time.monotonic() - started < 3


async def test_retry_after_past_the_deadline_is_not_waited_for(
    server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", rate_limited(retry_after=60))
    async with models_for(server) as models:
        started = time.monotonic()
        with pytest.raises(ModelUnavailable, match="rate-limited"):
            await ask(models, "chat", QUESTION, deadline=within(5))
    assert time.monotonic() - started < 2
    assert len(server.requests) == 1


async def test_the_next_model_is_asked_rather_than_a_long_wait_made(
    server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", rate_limited(retry_after=60))
    script.add("spare", Reply("好的"))
    async with models_for(server, steward_fallback_models="spare") as models:
        reply = await ask(models, "chat", QUESTION, deadline=within(5))
    assert (reply.message.text, reply.model) == ("好的", "spare")


async def test_a_model_that_stays_down_gives_way_to_the_fallback_list_in_order(
    server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", *[server_error()] * 4)
    script.add("spare-1", unknown_model("spare-1"))
    script.add("spare-2", Reply("Here I am."))
    async with models_for(server, steward_fallback_models="spare-1, spare-2") as models:
        reply = await ask(models, "chat", QUESTION, deadline=within(5))
    assert reply.model == "spare-2"
    assert [r["model"] for r in server.requests] == ["chat"] * 4 + ["spare-1", "spare-2"]


async def test_a_small_role_asks_no_other_model(server: ModelServer, script: RoleQueues) -> None:
    script.add("router", server_error(), server_error())
    async with models_for(server, steward_fallback_models="spare") as models:
        with pytest.raises(ModelUnavailable):
            await ask(models, "router", QUESTION, deadline=within(5))
    assert {request["model"] for request in server.requests} == {"router"}


async def test_a_slow_model_is_left_at_the_time_limit_of_its_role(
    server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", Reply("late", delay=5))
    script.add("spare", Reply("in time"))
    async with models_for(server, steward_chat_timeout=1, steward_fallback_models="spare") as models:
        started = time.monotonic()
        reply = await ask(models, "chat", QUESTION, deadline=within(10))
    assert reply.message.text == "in time"
    assert time.monotonic() - started < 4


async def test_the_deadline_ends_everything(server: ModelServer, script: RoleQueues) -> None:
    script.add("chat", *[Reply("late", delay=5)] * 4)
    async with models_for(server) as models:
        started = time.monotonic()
        with pytest.raises(ModelUnavailable, match="STEWARD_<ROLE>_TIMEOUT"):
            await ask(models, "chat", QUESTION, deadline=within(0.4))
    assert time.monotonic() - started < 4


async def test_a_small_role_does_not_eat_the_turn(server: ModelServer, script: RoleQueues) -> None:
    script.add("router", *[Reply("late", delay=5)] * 2)
    async with models_for(server, steward_router_timeout=0.2) as models:
        started = time.monotonic()
        with pytest.raises(ModelUnavailable):
            await ask(models, "router", QUESTION, deadline=within(60))
    assert time.monotonic() - started < 4


async def test_a_stream_that_trickles_is_bounded_as_a_whole(server: ModelServer, script: RoleQueues) -> None:
    script.add("chat", *[Reply("a very long story", pieces=["a very long story "] * 200, pause=0.1)] * 4)
    watcher = Watcher()
    # The first piece has to come within the limit, also on a machine that does other things.
    async with models_for(server, steward_chat_timeout=3) as models:
        with pytest.raises(ModelUnavailable):
            await ask(models, "chat", QUESTION, deadline=within(3.3), on_text=watcher)
    assert watcher.void
    assert watcher.shown == ""


async def test_a_past_deadline_asks_nobody(server: ModelServer, script: RoleQueues) -> None:
    async with models_for(server) as models:
        with pytest.raises(ModelUnavailable, match="No time was left"):
            await ask(models, "chat", QUESTION, deadline=within(-1))
    assert not server.requests


async def test_a_wrong_key_is_not_tried_again(server: ModelServer, script: RoleQueues) -> None:
    script.add("chat", wrong_key())
    async with models_for(server, steward_fallback_models="spare") as models:
        with pytest.raises(ModelUnavailable, match="OPENAI_API_KEY") as caught:
            await ask(models, "chat", QUESTION, deadline=within(5))
    assert len(server.requests) == 1
    assert "sk-" not in str(caught.value)


async def test_an_empty_account_is_not_tried_again(server: ModelServer, script: RoleQueues) -> None:
    script.add("chat", failure(429, "You exceeded your current quota", code="insufficient_quota"))
    async with models_for(server) as models:
        with pytest.raises(ModelUnavailable, match="no credit"):
            await ask(models, "chat", QUESTION, deadline=within(5))
    assert len(server.requests) == 1


async def test_a_refused_connection_is_an_unavailable_model() -> None:
    with ModelServer(RoleQueues()) as server:
        pass
    async with models_for(server, backoff=Backoff(attempts=2, first=0.01, most=0.02)) as models:
        with pytest.raises(ModelUnavailable, match="OPENAI_BASE_URL"):
            await ask(models, "chat", QUESTION, deadline=within(5))


@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
        "the request exceeds the available context size (8192 tokens), try increasing it",
        "Invalid request: Your request exceeded model token limit: 8192",
        "Range of input length should be [1, 8192]",
        "prompt is too long: 9000 tokens > 8192 maximum",
    ],
)
async def test_an_overflow_goes_to_the_caller_at_once(
    server: ModelServer, script: RoleQueues, said: str
) -> None:
    script.add("chat", failure(400, said))
    async with models_for(server, steward_fallback_models="spare") as models:
        with pytest.raises(ContextOverflow):
            await ask(models, "chat", QUESTION, deadline=within(5))
    assert len(server.requests) == 1


async def test_an_overflow_tells_the_window_where_the_endpoint_does(
    server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", context_overflow(4096))
    async with models_for(server) as models:
        with pytest.raises(ContextOverflow) as caught:
            await ask(models, "chat", QUESTION, deadline=within(5))
    assert caught.value.limit == 4096


@pytest.mark.parametrize("silence", [empty(), refusal("I cannot help with that."), Reply(" \n")])
async def test_silence_and_refusal_get_one_more_try(
    server: ModelServer, script: RoleQueues, silence: Reply
) -> None:
    script.add("chat", silence, Reply("好的，我来查。"))
    async with models_for(server) as models:
        reply = await ask(models, "chat", QUESTION, deadline=within(5))
    assert reply.message.text == "好的，我来查。"
    assert len(reply.calls) == 2, "both were answered, and both cost tokens"


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_second_refusal_is_handed_on_as_one(
    server: ModelServer, script: RoleQueues, streamed: bool
) -> None:
    script.add("chat", *[refusal("I cannot help with that.")] * 2)
    async with models_for(server) as models:
        watcher = Watcher() if streamed else None
        reply = await ask(models, "chat", QUESTION, deadline=within(5), on_text=watcher)
    assert reply.says_nothing
    assert reply.refusal == "I cannot help with that."


async def test_what_a_content_filter_takes_back_was_never_said(
    server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", Reply("something bad", finish_reason="content_filter"), Reply("something good"))
    watcher = Watcher()
    async with models_for(server) as models:
        reply = await ask(models, "chat", QUESTION, deadline=within(5), on_text=watcher)
    assert reply.message.text == watcher.shown == "something good"
    assert "m1" in watcher.void


async def test_a_filtered_conversation_goes_to_the_next_model_and_ends_as_a_refusal(
    server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", failure(400, "Content Exists Risk"))
    script.add(
        "spare", failure(400, "Input data may contain inappropriate content", code="data_inspection_failed")
    )
    async with models_for(server, steward_fallback_models="spare") as models:
        reply = await ask(models, "chat", QUESTION, deadline=within(5))
    assert reply.says_nothing
    assert reply.refusal


async def test_a_stream_shows_the_text_as_it_comes(server: ModelServer, script: RoleQueues) -> None:
    script.add("chat", Reply("您的包裹在上海转运中心。", usage=Usage(50, 12)))
    watcher = Watcher()
    async with models_for(server) as models:
        reply = await ask(models, "chat", QUESTION, deadline=within(5), on_text=watcher)
    assert watcher.messages == {"m1": "您的包裹在上海转运中心。"}
    assert (reply.message.id, reply.message.text) == ("m1", "您的包裹在上海转运中心。")
    assert reply.usage.prompt_tokens == 50
    assert server.requests[0]["stream_options"] == {"include_usage": True}


async def test_nobody_watching_means_a_plain_request(server: ModelServer, script: RoleQueues) -> None:
    script.add("chat", Reply("ok"))
    async with models_for(server) as models:
        await ask(models, "chat", QUESTION, deadline=within(5))
    assert not server.requests[0].get("stream")


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(Reply("Your parcel was lo", drop_after=3), id="connection breaks"),
        pytest.param(Reply("Your parcel was lo", finish_reason=None), id="stream just ends"),
    ],
)
async def test_what_a_dropped_stream_had_shown_is_void_and_the_answer_comes_plain(
    server: ModelServer, script: RoleQueues, broken: Reply
) -> None:
    script.add("chat", broken, Reply("Your parcel was located."))
    watcher = Watcher()
    async with models_for(server) as models:
        reply = await ask(models, "chat", QUESTION, deadline=within(5), on_text=watcher)
    assert watcher.void == ["m1"]
    assert reply.message.id == watcher.message_id == "m2"
    assert reply.message.text == "Your parcel was located."
    assert not server.requests[1].get("stream")


async def test_missing_figures_are_estimated_and_marked(server: ModelServer, script: RoleQueues) -> None:
    script.add("chat", Reply("包裹在上海", usage=None))
    async with models_for(server) as models:
        reply = await ask(models, "chat", QUESTION, tools=[TOOL], deadline=within(5), on_text=Watcher())
    assert reply.usage.estimated
    assert 40 < reply.usage.prompt_tokens < 120
    assert 2 <= reply.usage.completion_tokens <= 6


async def test_other_names_for_cached_tokens_and_reasoning_are_known(
    server: ModelServer, script: RoleQueues
) -> None:
    body = {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok", "reasoning": "hm"}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 5, "prompt_cache_hit_tokens": 64},
    }
    script.add("chat", Reply(body=json.dumps(body).encode()))
    async with models_for(server) as models:
        reply = await ask(models, "chat", QUESTION, deadline=within(5))
        assert models.reasoning[str(reply.message.id)] == "hm"
    assert reply.usage.cached_tokens == 64
    assert "hm" not in reply.message.model_dump_json()


async def test_content_as_blocks_becomes_text(server: ModelServer, script: RoleQueues) -> None:
    blocks = [{"type": "text", "text": "Hello "}, {"type": "text", "text": "there"}]
    script.add("chat", Reply(blocks), Reply(blocks))
    async with models_for(server) as models:
        plain = await ask(models, "chat", QUESTION, deadline=within(5))
        streamed = await ask(models, "chat", QUESTION, deadline=within(5), on_text=Watcher())
    assert plain.message.content == streamed.message.content == "Hello there"


async def test_calls_are_offered_in_parallel_and_read(server: ModelServer, script: RoleQueues) -> None:
    script.add("chat", tool_call("order_query", {"order_id": "ABC-20240520-001"}))
    async with models_for(server) as models:
        reply = await ask(models, "chat", QUESTION, tools=[TOOL], deadline=within(5))
    assert reply.message.tool_calls[0]["args"] == {"order_id": "ABC-20240520-001"}
    assert server.requests[0]["tools"] == [TOOL]
    assert server.requests[0]["parallel_tool_calls"] is True
