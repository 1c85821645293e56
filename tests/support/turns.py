"""Whole turns of a small business: real graph, real Postgres, a scripted endpoint over real HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.types import Command

from graph import AgentContext, Settings, open_agent
from graph.open import Agent
from nodes.business import Business, Intent
from tests.support.model_server import ModelServer
from tools.spec import ToolSpec

QUIET: dict[str, Any] = {
    "steward_routing": "off",
    "steward_review": "off",
    "steward_long_term_memory": "off",
    "steward_local_router": "off",
    "steward_worker": "external",
}
"""Tools alone: routing, review and memory are tested elsewhere."""


def business(tools: Sequence[ToolSpec], *, reviewed: bool = False) -> Business:
    """One intent that offers all the tools."""
    names = tuple(spec.name for spec in tools)
    intent = Intent("chat", "Anything.", tools=names, review=reviewed, checklist=("Be kind.",))
    return Business("small", "Help.", [intent], tools=lambda _: list(tools))


@dataclass
class Talk:
    """A customer on one thread."""

    agent: Agent
    user_id: str = "user_123"
    thread_id: str = field(default_factory=lambda: uuid4().hex)

    @property
    def config(self) -> Any:
        return {"configurable": {"thread_id": self.thread_id}}

    async def say(self, text: Any, **context: Any) -> dict[str, Any]:
        """One turn; the state that it left."""
        return await self.run({"messages": [HumanMessage(text)]}, **context)

    async def decide(
        self, *decisions: dict[str, Any], by: Literal["customer", "staff"] = "customer"
    ) -> dict[str, Any]:
        return await self.run(Command(resume={"decisions": list(decisions)}), role=by)

    async def run(self, given: Any, **context: Any) -> dict[str, Any]:
        context = {"user_id": self.user_id, **context}
        return await self.agent.graph.ainvoke(given, self.config, context=AgentContext(**context))

    async def interrupts(self) -> list[Any]:
        snapshot = await self.agent.graph.aget_state(self.config)
        return [interrupt.value for interrupt in snapshot.interrupts]

    async def check_thread(self) -> None:
        """Every call has exactly one result, no assistant message is empty, customer messages stand."""
        messages = (await self.agent.graph.aget_state(self.config)).values["messages"]
        calls = [call["id"] for m in messages if isinstance(m, AIMessage) for call in all_calls(m)]
        results = [m.tool_call_id for m in messages if isinstance(m, ToolMessage)]
        assert sorted(calls) == sorted(results)
        assert all(m.text or all_calls(m) for m in messages if isinstance(m, AIMessage))


def all_calls(message: AIMessage) -> list[Any]:
    return [*message.tool_calls, *message.invalid_tool_calls]


def envelopes(state: dict[str, Any]) -> list[dict[str, Any]]:
    """What the model was told of its calls, oldest first."""
    return [json.loads(m.text) for m in state["messages"] if isinstance(m, ToolMessage)]


@asynccontextmanager
async def talking(
    database_url: str,
    home: Path,
    server: ModelServer,
    tools: Sequence[ToolSpec],
    *,
    reviewed: bool = False,
    **settings: Any,
) -> AsyncIterator[Talk]:
    """A fresh thread with an agent of these tools."""
    values = {"database_url": database_url, "steward_home": home, **QUIET, **server.settings(), **settings}
    async with open_agent(Settings(_env_file=None, **values), business(tools, reviewed=reviewed)) as agent:
        yield Talk(agent)
