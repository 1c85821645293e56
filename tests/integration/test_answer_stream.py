"""What a customer sees of a running graph: the answer as it is written, once, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph

from nodes.answer_stream import AnswerStream, TextGuard, listening, withhold
from nodes.answers import RouterAnswer
from nodes.endpoint import ask
from nodes.models import Models
from nodes.structured import ask_structured
from tests.support.model_clients import QUESTION, TOOL, models_for, within
from tests.support.model_replies import Reply, empty, refusal, router_reply, tool_call
from tests.support.model_server import ModelServer, RoleQueues

MODES = ["messages", "updates", "values", "custom"]


class HeldUntilClear:
    """Holds back what begins with a brace, as the reader of calls written as text does."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        self._held += text
        return "" if self._held.startswith("{") else self.flush()

    def flush(self) -> str:
        held, self._held = self._held, ""
        return held


def make_graph(models: Models, guard: Callable[[], TextGuard] | None = None) -> CompiledStateGraph[Any]:
    """A router that must not be seen, then a chat model that must."""

    async def route(state: MessagesState) -> dict[str, Any]:
        await ask_structured(models, "router", RouterAnswer, QUESTION, deadline=within(5))
        return {}

    async def call_model(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        stream = AnswerStream(config, "answer-1", get_stream_writer(), guard)
        sink = stream if stream.listening else None
        reply = await ask(
            models, "chat", QUESTION, tools=[TOOL], deadline=within(5), on_text=sink, message_id="answer-1"
        )
        message = reply.message
        stream.finish(has_calls=bool(message.tool_calls or message.invalid_tool_calls))
        if reply.says_nothing:
            message = AIMessage("抱歉，我帮不上忙。", id=message.id)
        return {"messages": [message]}

    graph = StateGraph(MessagesState)
    graph.add_node("route", route)
    graph.add_node("call_model", call_model)
    graph.add_edge(START, "route")
    graph.add_edge("route", "call_model")
    graph.add_edge("call_model", END)
    return graph.compile()


class Seen:
    """What came out of a run, by stream mode."""

    def __init__(self) -> None:
        self.messages: list[AnyMessage] = []
        self.custom: list[Any] = []
        self.final: list[AnyMessage] = []

    @property
    def text(self) -> str:
        """All text of the agent in the message stream, as a simple client joins it."""
        return "".join(message.text for message in self.messages)

    @property
    def ids(self) -> set[str | None]:
        return {message.id for message in self.messages}


async def run(graph: CompiledStateGraph[Any], modes: list[str] = MODES) -> Seen:
    seen = Seen()
    async for mode, item in graph.astream({"messages": [HumanMessage("在哪里？")]}, stream_mode=modes):
        if mode == "messages":
            seen.messages.append(item[0])
        elif mode == "custom":
            seen.custom.append(item)
        elif mode == "values":
            seen.final = item["messages"]
    return seen


@pytest.fixture(autouse=True)
def routed(script: RoleQueues) -> None:
    script.add("router", lambda request: router_reply(request, ("order", 0.9)))


async def test_the_answer_alone_is_streamed_and_only_once(server: ModelServer, script: RoleQueues) -> None:
    script.add("chat", Reply("您的包裹已到达上海转运中心，请耐心等待。"))
    async with models_for(server) as models:
        seen = await run(make_graph(models))
    assert seen.text == seen.final[-1].text == "您的包裹已到达上海转运中心，请耐心等待。"
    assert seen.ids == {"answer-1"} == {seen.final[-1].id}
    assert len(seen.messages) > 2
    assert all(isinstance(message, AIMessageChunk) for message in seen.messages)
    assert seen.custom == []
    assert server.requests_of("chat")[0]["stream"] is True
    assert not server.requests_of("router")[0].get("stream"), "nobody watches a router"


async def test_without_a_message_stream_nothing_is_streamed(server: ModelServer, script: RoleQueues) -> None:
    script.add("chat", Reply("Hello."))
    async with models_for(server) as models:
        seen = await run(make_graph(models), ["updates", "values", "custom"])
    assert seen.final[-1].text == "Hello."
    assert not server.requests_of("chat")[0].get("stream")


async def test_text_beside_a_call_is_marked_provisional(server: ModelServer, script: RoleQueues) -> None:
    script.add("chat", tool_call("order_query", {"order_id": "A"}, text="Your refund is done."))
    async with models_for(server) as models:
        seen = await run(make_graph(models))
    assert seen.text == "Your refund is done."
    assert seen.custom == [{"type": "provisional", "message_id": "answer-1"}]
    assert seen.final[-1].tool_calls


async def test_text_that_may_be_a_call_is_held_back_and_shown_when_it_is_none(
    server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", Reply("{braces} are fine"))
    async with models_for(server) as models:
        seen = await run(make_graph(models, HeldUntilClear))
    assert [message.text for message in seen.messages] == ["{braces} are fine"]


async def test_held_back_text_is_never_shown_when_a_call_follows(
    server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("order_query", {"order_id": "A"}, text='{"name": "order_query"'))
    async with models_for(server) as models:
        seen = await run(make_graph(models, HeldUntilClear))
    assert [message.id for message in seen.messages] == ["answer-1"], "the message with the call itself"
    assert not isinstance(seen.messages[0], AIMessageChunk)
    assert seen.custom == []


async def test_a_stream_that_broke_is_marked_and_the_answer_comes_under_a_new_id(
    server: ModelServer, script: RoleQueues
) -> None:
    script.add(
        "chat", Reply("Your parcel was lost at sea", drop_after=4), Reply("Your parcel is in Shanghai.")
    )
    async with models_for(server) as models:
        seen = await run(make_graph(models))
    void = [event["message_id"] for event in seen.custom]
    assert void == ["answer-1"]
    standing = [message for message in seen.messages if message.id not in void]
    assert [message.text for message in standing] == ["Your parcel is in Shanghai."]
    assert standing[0].id == seen.final[-1].id


@pytest.mark.parametrize("silence", [empty(), refusal("I can't.")])
async def test_a_polite_answer_in_place_of_silence_is_seen(
    server: ModelServer, script: RoleQueues, silence: Reply
) -> None:
    script.add("chat", silence, silence)
    async with models_for(server) as models:
        seen = await run(make_graph(models))
    assert seen.text == seen.final[-1].text == "抱歉，我帮不上忙。"


async def test_a_withheld_message_reaches_the_state_but_no_message_stream() -> None:
    async def draft(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        assert listening(config)
        withhold(config, ["draft-1"])
        return {"messages": [AIMessage("a draft", id="draft-1")]}

    graph = StateGraph(MessagesState)
    graph.add_node("draft", draft)
    graph.add_edge(START, "draft")
    seen = await run(graph.compile())
    assert seen.messages == []
    assert seen.final[-1].text == "a draft"


async def test_an_event_stream_gets_the_answer_whole(server: ModelServer, script: RoleQueues) -> None:
    script.add("chat", Reply("您好，请稍等。"))
    async with models_for(server) as models:
        graph = make_graph(models)
        stream = await graph.astream_events({"messages": [HumanMessage("你好")]}, version="v3")
        texts = [await message.text async for message in stream.messages]
    assert texts == ["您好，请稍等。"]
