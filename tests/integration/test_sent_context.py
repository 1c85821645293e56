"""What a real graph sends: stable to the letter, so that the provider's prompt cache hits; and the day's allowance."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from graph import AgentContext, Settings, open_agent
from graph.open import Agent
from tests.support.model_replies import Reply, Request, summariser_reply, tool_call
from tests.support.model_server import ModelServer, RoleQueues

CONTEXT = AgentContext(user_id="user_123")


@pytest.fixture
def options() -> dict[str, Any]:
    """Settings of the agent; a test overrides the fixture with `parametrize`."""
    return {}


@pytest.fixture
async def agent(
    module_database_url: str, server: ModelServer, tmp_path: Path, options: dict[str, Any]
) -> AsyncIterator[Agent]:
    values: dict[str, Any] = {
        "database_url": module_database_url,
        "steward_home": tmp_path,
        "steward_routing": "off",
        "steward_review": "off",
        "steward_long_term_memory": "off",
        **options,
    }
    async with open_agent(Settings(_env_file=None, **server.settings(), **values)) as agent:
        yield agent


async def say(agent: Agent, words: str, thread: str, context: AgentContext = CONTEXT) -> dict[str, Any]:
    state: dict[str, Any] = await agent.graph.ainvoke(
        {"messages": [("user", words)]}, {"configurable": {"thread_id": thread}}, context=context
    )
    return state


def begins_with(later: Request, earlier: Request) -> bool:
    """Whether the earlier prompt stands at the beginning of the later one, to the byte."""
    tools = json.dumps(later["tools"]) == json.dumps(earlier["tools"])
    before = [json.dumps(message) for message in earlier["messages"]]
    return tools and [json.dumps(message) for message in later["messages"]][: len(before)] == before


async def test_each_request_begins_with_the_one_before_it(
    agent: Agent, server: ModelServer, script: RoleQueues
) -> None:
    script.add(
        "chat",
        tool_call("product_search", {"query": "杯"}),
        tool_call("product_search", {"query": "mug"}),
        Reply("有几款。"),
        Reply("不客气 🙂"),
        tool_call("product_search", {"query": "茶"}),
        Reply("Yes."),
    )
    for words in ("有杯子吗", "谢谢 👩‍👩‍👧‍👦", "and tea?"):
        await say(agent, words, "stable")
    requests = server.requests_of("chat")
    assert len(requests) == 6
    assert all(begins_with(later, earlier) for earlier, later in pairwise(requests))


async def test_the_background_stands_before_the_latest_message(
    agent: Agent, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", Reply("您好"), Reply("好的"))
    for words in ("你好", "在吗"):
        await say(agent, words, "background")
    latest = server.requests_of("chat")[-1]["messages"][-1]["content"]
    assert latest.startswith("<background>\nNow: ")
    assert "The current task is: " in latest
    assert latest.endswith("<customer_message>\n在吗\n</customer_message>")


async def test_the_customers_own_message_is_not_streamed_back(agent: Agent, script: RoleQueues) -> None:
    script.add("chat", Reply("您好"))
    said = [
        message
        async for message, _ in agent.graph.astream(
            {"messages": [("user", "你好")]},
            {"configurable": {"thread_id": "streamed"}},
            context=CONTEXT,
            stream_mode="messages",
        )
    ]
    assert said
    assert not [message for message in said if message.type == "human"]


@pytest.mark.parametrize("options", [{"steward_context_tokens": 5000, "steward_answer_tokens": 500}])
async def test_only_a_fold_changes_what_was_sent(
    agent: Agent, server: ModelServer, script: RoleQueues
) -> None:
    script.add("summariser", *[lambda request: summariser_reply(request, "The customer counts mugs.")] * 10)
    for turn in range(20):
        script.add("chat", Reply(f"{turn} " + "一共二十个杯子,都在仓库里。" * 8))
        await say(agent, f"{turn} " + "How many mugs are left in the warehouse? " * 8, "folded")
        await agent.worker.drain(timeout=10)
    requests = server.requests_of("chat")
    breaks = [later for earlier, later in pairwise(requests) if not begins_with(later, earlier)]
    assert 1 <= len(breaks) <= 5
    for request in breaks:
        assert "The customer counts mugs." in request["messages"][1]["content"]


@pytest.mark.parametrize("options", [{"steward_day_turns": 1}, {"steward_day_tokens": 10}])
async def test_a_user_over_the_days_allowance_is_told_so_without_a_model_call(
    agent: Agent, server: ModelServer, script: RoleQueues, options: dict[str, Any]
) -> None:
    user = f"spender {sorted(options)}"
    script.add("chat", Reply("First."), Reply("Another user's."))
    assert (await say(agent, "hello", f"{user} 1", AgentContext(user_id=user)))["answer"] == "First."
    over = await say(agent, "hello again", f"{user} 2", AgentContext(user_id=user))
    assert "allowance" in over["answer"]
    other = await say(agent, "hello", f"{user} 3", AgentContext(user_id=f"not {user}"))
    assert other["answer"] == "Another user's."
    assert len(server.requests_of("chat")) == 2
