"""What must not be overlooked, from the words in one session to the answer in another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graph import AgentContext, Settings, open_agent
from graph.open import Agent
from tests.support.model_replies import Reply, Request, extractor_reply, router_reply
from tests.support.model_server import ModelServer, RoleQueues

ALLERGY = {
    "key": "peanut_allergy",
    "content": "对花生过敏",
    "type": "fact",
    "confidence": 0.95,
    "importance": 0.9,
    "domains": ["general"],
    "evidence": "我对花生过敏",
}


async def say(agent: Agent, words: str, thread: str) -> dict[str, Any]:
    state: dict[str, Any] = await agent.graph.ainvoke(
        {"messages": [("user", words)]},
        {"configurable": {"thread_id": thread}},
        context=AgentContext(user_id="oat_eater"),
    )
    return state


@pytest.mark.parametrize(
    ("words", "intent", "told"),
    [
        ("有没有燕麦推荐", "consult", True),
        ("我的包裹到哪了", "logistics", False),
        ("讲个笑话", "chat", False),
    ],
)
async def test_an_allergy_is_before_the_model_where_something_is_recommended(
    module_database_url: str,
    tmp_path: Path,
    server: ModelServer,
    script: RoleQueues,
    words: str,
    intent: str,
    told: bool,
) -> None:
    def routed(request: Request) -> Reply:
        return router_reply(request, (intent, 0.95))

    settings = Settings(
        _env_file=None,
        **server.settings(),
        database_url=module_database_url,
        steward_home=tmp_path,
        steward_local_router="off",
        steward_review="off",
    )
    script.add("router", routed, routed)
    script.add("chat", Reply("记下了。"), Reply("好的。"))
    script.add("extractor", lambda request: extractor_reply(request, ALLERGY))
    async with open_agent(settings) as agent:
        await say(agent, "我对花生过敏", f"{intent} first")
        assert await agent.worker.drain(timeout=20)
        script.add("extractor", *[lambda request: extractor_reply(request)] * 3)
        state = await say(agent, words, f"{intent} second")
        await agent.worker.drain(timeout=20)
    assert ("对花生过敏" in server.requests_of("chat")[-1]["messages"][-1]["content"]) is told
    assert [memory["key"] for memory in state["recalled"]] == (["peanut_allergy"] if told else [])
