"""A turn whose answer is reviewed, as it looks from outside, and what a reviewer may say of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from graph import AgentContext
from graph.open import Agent
from tests.support.model_replies import Reply, Request, reviewer_reply
from tests.support.model_server import ModelServer

QUESTION = "我的 GHI-20240512-003 茶具碎了，能退吗？"
DRAFT = "订单 GHI-20240512-003 已于5月16日签收，金额 688.00 元，15天内可以退换。"
WRONG = DRAFT.replace("688.00", "868.00")
POLICY = "签收后15天内可以退换"
Play = Callable[..., Awaitable["Reviewed"]]


@dataclass
class Reviewed:
    """One turn with a reviewed answer, as it looked from outside."""

    thread_id: str
    state: dict[str, Any] = field(default_factory=dict)
    streamed: list[str] = field(default_factory=list)
    """Text of the assistant messages in the message stream."""
    progress: list[dict[str, Any]] = field(default_factory=list)

    @property
    def answer(self) -> str:
        return str(self.state["answer"])

    @property
    def review(self) -> dict[str, Any]:
        review: dict[str, Any] = self.state["review"]
        return review


async def watch(agent: Agent) -> Reviewed:
    seen = Reviewed(uuid4().hex)
    config = {"configurable": {"thread_id": seen.thread_id}}
    context = AgentContext(user_id="user_123", now=datetime(2024, 5, 20, 2, tzinfo=UTC))
    events = agent.graph.astream(
        {"messages": [("user", f"{QUESTION} 政策：{POLICY}")]},
        config,
        context=context,
        stream_mode=["messages", "custom", "values"],
    )
    async for mode, event in events:
        if mode == "messages" and event[0].type in ("ai", "AIMessageChunk"):
            seen.streamed.append(event[0].text)
        elif mode == "custom" and event["type"] == "review":
            seen.progress.append(event)
        elif mode == "values":
            seen.state = event
    return seen


def keep(request: Request) -> Reply:
    return reviewer_reply(request)


def revise(text: str, *problems: str) -> Callable[[Request], Reply]:
    return lambda request: reviewer_reply(request, revised=text, problems=problems)


def prompt_of(request: Request) -> str:
    return str(request["messages"][-1]["content"])


def block(request: Request, name: str) -> str:
    return prompt_of(request).partition(f"<{name}>")[2].partition(f"</{name}>")[0].strip()


def answers_asked_for(server: ModelServer) -> int:
    """Requests to the chat model in its own role."""
    return sum("reviewer_answer" not in str(r.get("tool_choice")) for r in server.requests_of("chat"))
