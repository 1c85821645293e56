"""Routing in the whole graph: real Postgres, a scripted endpoint over real HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import structlog

from graph import AgentContext, Settings, open_agent
from graph.open import Agent
from tests.support.model_replies import Reply, Request, failure, router_reply
from tests.support.model_server import ModelServer, RoleQueues

UNCLEAR = "那个杯子的事情你们看着办一下"
Opening = Callable[..., AbstractAsyncContextManager["Thread"]]


@dataclass
class Thread:
    """One conversation, and what its last turn looked like."""

    agent: Agent
    id: str = field(default_factory=lambda: uuid4().hex)
    state: dict[str, Any] = field(default_factory=dict)
    streamed: str = ""

    async def say(self, text: str) -> None:
        config = {"configurable": {"thread_id": self.id}}
        self.streamed = ""
        events = self.agent.graph.astream(
            {"messages": [("user", text)]},
            config,
            context=AgentContext(user_id="user_123"),
            stream_mode=["messages", "values"],
        )
        async for mode, event in events:
            if mode == "values":
                self.state = event
            else:
                self.streamed += event[0].text

    @property
    def intents(self) -> list[str]:
        return [intent["name"] for intent in self.state["route"]["intents"]]

    @property
    def sources(self) -> set[str]:
        return {intent["source"] for intent in self.state["route"]["intents"]}


@pytest.fixture
def script() -> RoleQueues:
    return RoleQueues(repeat=("chat", "reviewer"), chat=[Reply("好的。")], reviewer=[Reply("no verdict")])


@pytest.fixture
def opened(module_database_url: str, server: ModelServer, tmp_path: Path) -> Opening:
    """Opens an agent on the scripted endpoint and begins a conversation."""

    @asynccontextmanager
    async def thread(**settings: Any) -> AsyncIterator[Thread]:
        values = {
            "database_url": module_database_url,
            "steward_home": tmp_path,
            "steward_local_router": "off",
            "steward_review": "off",
            "steward_worker": "external",
            **server.settings(),
            **settings,
        }
        async with open_agent(Settings(_env_file=None, **values)) as agent:
            yield Thread(agent)

    return thread


def routed(*intents: tuple[str, float]) -> Callable[[Request], Reply]:
    return lambda request: router_reply(request, *intents)


UNSURE = routed(("order", 0.4), ("aftersale", 0.35), ("logistics", 0.1))


def background_of(server: ModelServer) -> str:
    return str(server.requests_of("chat")[-1]["messages"][-1]["content"])


@pytest.mark.parametrize(
    ("answer", "expected"), [("2", "aftersale"), ("退款", "aftersale"), ("订单", "order")]
)
async def test_a_question_is_answered_by_number_or_by_word(
    answer: str, expected: str, opened: Opening, script: RoleQueues, server: ModelServer
) -> None:
    script.add("router", UNSURE)
    async with opened() as thread:
        await thread.say(UNCLEAR)
        assert thread.state["clarification"]["intents"] == ["order", "aftersale", "logistics"]
        assert not server.requests_of("chat")
        await thread.say(answer)
    assert thread.intents == [expected]
    assert thread.state["clarification"] is None
    assert UNCLEAR in thread.state["turn"]["request"]
    assert UNCLEAR in str(server.requests_of("chat")[-1]["messages"])
    assert len(server.requests_of("router")) == 1


async def test_a_restatement_serves_the_request_that_was_asked_about(
    opened: Opening, script: RoleQueues
) -> None:
    script.add("router", UNSURE, routed(("aftersale", 0.95)))
    async with opened() as thread:
        await thread.say(UNCLEAR)
        await thread.say("杯子有一道很长的裂缝，没法用")
    assert thread.intents == ["aftersale"]
    assert UNCLEAR in thread.state["turn"]["request"]


async def test_a_change_of_subject_leaves_the_question_behind(opened: Opening, script: RoleQueues) -> None:
    script.add("router", UNSURE, routed(("consult", 0.95)))
    async with opened() as thread:
        await thread.say(UNCLEAR)
        await thread.say("算了，你们会员积分怎么用")
    assert thread.intents == ["consult"]
    assert UNCLEAR not in thread.state["turn"]["request"]


async def test_a_second_unclear_answer_gets_the_best_guess_said_as_such(
    opened: Opening, script: RoleQueues, server: ModelServer
) -> None:
    script.add("router", UNSURE, UNSURE)
    async with opened() as thread:
        await thread.say(UNCLEAR)
        await thread.say("就是那个嘛，你们懂的")
    assert thread.state["clarification"] is None
    assert thread.state["route"]["guess"]
    assert thread.state["answer"] == "好的。"
    assert "unsure" in background_of(server)


async def test_an_unclear_message_is_guessed_at_once_where_questions_are_off(
    opened: Opening, script: RoleQueues
) -> None:
    script.add("router", UNSURE)
    async with opened(steward_clarify="off") as thread:
        await thread.say(UNCLEAR)
    assert thread.intents == ["order"]
    assert thread.state["route"]["guess"]


async def test_several_intents_bring_the_tools_of_each(opened: Opening, script: RoleQueues) -> None:
    script.add("router", routed(("logistics", 0.9), ("aftersale", 0.85), ("consult", 0.2)))
    async with opened() as thread:
        await thread.say("快递到哪了，另外杯子碎了要退")
    assert thread.intents == ["aftersale", "logistics"]
    assert {"logistics_query", "aftersale_create"} <= set(thread.state["route"]["tools"])
    assert len(thread.state["route"]["tools"]) <= 6


@pytest.mark.parametrize(
    "reply",
    [Reply("I think it is about an order"), failure(400, "bad request"), Reply("{")],
    ids=["prose", "down", "cut"],
)
async def test_a_router_that_fails_falls_back_to_chat_and_is_logged(
    reply: Reply, opened: Opening, script: RoleQueues
) -> None:
    script.add("router", *[reply] * 6)
    with structlog.testing.capture_logs() as logs:
        async with opened() as thread:
            await thread.say("我要退货")
    assert thread.state["route"]["intents"] == [{"name": "chat", "confidence": 1.0, "source": "fallback"}]
    assert any(entry["event"].startswith("router failed") for entry in logs)
    assert thread.state["answer"] == "好的。"


async def test_an_unknown_category_falls_back_to_chat_and_is_logged(
    opened: Opening, script: RoleQueues
) -> None:
    script.add("router", routed(("banking", 0.99)))
    with structlog.testing.capture_logs() as logs:
        async with opened() as thread:
            await thread.say("我要退货")
    assert thread.state["route"]["intents"] == [{"name": "chat", "confidence": 1.0, "source": "fallback"}]
    assert any(entry["event"] == "router named no known intent" for entry in logs)


async def test_the_routers_words_are_never_streamed_nor_kept_as_a_message(
    opened: Opening, script: RoleQueues
) -> None:
    script.add("router", routed(("order", 0.95)))
    async with opened() as thread:
        await thread.say("看看我的单子")
    assert "intents" not in thread.streamed
    assert "confidence" not in thread.streamed
    assert [message.type for message in thread.state["messages"]] == ["human", "ai"]


async def test_the_router_reads_the_last_two_messages_of_the_customer_only(
    opened: Opening, script: RoleQueues, server: ModelServer
) -> None:
    script.add("router", *[routed(("order", 0.95))] * 3)
    async with opened() as thread:
        for text in (
            "第一句：看看单子进展到哪步",
            "第二句：再看看另外那些单子好吗",
            "第三句：全部单子都列出来给我看一下",
        ):
            await thread.say(text)
    prompt = str(server.requests_of("router")[-1]["messages"])
    assert "第二句" in prompt
    assert "第三句" in prompt
    assert "第一句" not in prompt
    assert server.requests_of("router")[-1]["temperature"] == 0


async def test_routing_switched_off_offers_the_fallback_without_a_call(
    opened: Opening, server: ModelServer
) -> None:
    async with opened(steward_routing="off") as thread:
        await thread.say("我要退货")
    assert thread.intents == ["chat"]
    assert not server.requests_of("router")


async def test_the_classifier_saves_the_call_where_it_is_sure(opened: Opening, server: ModelServer) -> None:
    async with opened(steward_local_router="on") as thread:
        await thread.say("我的快递到哪了")
        assert (thread.intents, thread.sources) == (["logistics"], {"local"})
        await thread.say("那另一个呢")
        assert (thread.intents, thread.sources) == (["logistics"], {"follow_up"})
        await thread.say("那帮我开张发票吧")
        assert (thread.intents, thread.sources) == (["aftersale"], {"local"})
        await thread.say("对了，忘记密码怎么办")
        assert (thread.intents, thread.sources) == (["consult"], {"local"})
    assert not server.requests_of("router")


async def test_an_order_number_does_not_drown_the_wish(opened: Opening, script: RoleQueues) -> None:
    script.add("router", routed(("aftersale", 0.95)))
    async with opened(steward_local_router="on") as thread:
        await thread.say("订单 GHI-20240512-003 的茶具碎了一个杯子，要退货")
    assert thread.intents == ["aftersale"]


async def test_a_model_that_is_surely_wrong_is_doubted_where_the_classifier_disagrees(
    opened: Opening, script: RoleQueues
) -> None:
    script.add("router", routed(("consult", 0.95)))
    async with opened(steward_local_router="on") as thread:
        await thread.say("取消订单退钱还是等快递送到再说")
    assert thread.state["clarification"] is not None
    assert "order" in thread.state["clarification"]["intents"]


async def test_two_wishes_that_are_each_clear_need_no_router(opened: Opening, server: ModelServer) -> None:
    async with opened(steward_local_router="on") as thread:
        await thread.say("取消昨天那单，还有你们把我的包裹送到哪个地方去了呀")
    assert (thread.intents, thread.sources) == (["order", "logistics"], {"local"})
    assert {"order_update", "logistics_query"} <= set(thread.state["route"]["tools"])
    assert not server.requests_of("router")
