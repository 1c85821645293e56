"""The three that are compared: Steward, `create_agent`, and the bare graph. Each has one tool and one Postgres."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Protocol

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool as langchain_tool
from langchain_openai import ChatOpenAI
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import _messages_delta_reducer
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool
from pydantic import Field
from typing_extensions import TypedDict

from bench.peer.endpoint import TOOL, Endpoint
from graph import AgentContext, Business, Settings, open_agent
from graph.open import Agent
from graph.shop.business import SHOP
from tools.declare import IDENTIFIER, tool
from tools.spec import ToolContext

PROMPT = "You serve the customers of a shop. Use the tools; never invent an order."
ORDER = {"status": "in transit", "place": "Shanghai transit centre", "expected": "2026-12-03"}
CONNECTIONS = 10

OrderId = Annotated[str, Field(description="Order number, such as ABC-20240520-001.")]


class Contestant(Protocol):
    """One way to build the agent."""

    name: str

    async def turn(self, thread_id: str, text: str) -> None:
        """One turn of a thread, from the customer's words to the answer."""


@tool(name=TOOL, identifiers=("order_id",))
async def order_query(
    context: ToolContext,
    order_id: Annotated[str, IDENTIFIER, Field(description="Order number, such as ABC-20240520-001.")],
) -> dict[str, str]:
    """Look up one order and where its parcel is. Use it when an order number is known."""
    return {"order_id": order_id, **ORDER}


@langchain_tool(TOOL)
async def plain_order_query(order_id: OrderId) -> dict[str, str]:
    """Look up one order and where its parcel is. Use it when an order number is known."""
    return {"order_id": order_id, **ORDER}


def business() -> Business:
    """The shop's intents and examples, with the one tool; its own tables and documents are not needed."""
    intents = [replace(intent, tools=(TOOL,), review=False) for intent in SHOP.intents]
    return replace(SHOP, intents=intents, tools=lambda _: [order_query], documents=None, migrations=None)


@dataclass
class Steward:
    agent: Agent
    name: str = "Steward"

    async def turn(self, thread_id: str, text: str) -> None:
        state = await self.agent.graph.ainvoke(
            {"messages": [HumanMessage(text)]},
            {"configurable": {"thread_id": thread_id}},
            context=AgentContext(user_id=f"user of {thread_id}"),
            durability="async",
        )
        assert state["answer"], state

    async def settle(self) -> None:
        """Let the worker do what is due."""
        await self.agent.worker.drain(timeout=60)


@dataclass
class Compiled:
    """A graph over messages alone, with LangGraph's own saver."""

    graph: Any
    name: str

    async def turn(self, thread_id: str, text: str) -> None:
        state = await self.graph.ainvoke(
            {"messages": [HumanMessage(text)]},
            {"configurable": {"thread_id": thread_id}},
            durability="async",
        )
        assert state["messages"][-1].text, state


@asynccontextmanager
async def open_steward(url: str, home: Path, endpoint: Endpoint, **settings: Any) -> AsyncIterator[Steward]:
    """Steward as it comes, with its worker in another process, which is where a busy service has it."""
    values: dict[str, Any] = {
        "database_url": url,
        "steward_home": home,
        "steward_worker": "external",
        **endpoint.settings(),
        **settings,
    }
    async with open_agent(Settings(_env_file=None, **values), business()) as agent:
        await agent.services.models.warm()
        if agent.services.classifier:
            await agent.services.classifier.train()
        yield Steward(agent)


@asynccontextmanager
async def open_saver(url: str) -> AsyncIterator[AsyncPostgresSaver]:
    """LangGraph's saver on a pool, as its documentation has it."""
    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    async with AsyncConnectionPool(url, min_size=1, max_size=CONNECTIONS, open=False, kwargs=options) as pool:
        saver = AsyncPostgresSaver(pool)  # type: ignore[arg-type]
        await saver.setup()
        yield saver


@asynccontextmanager
async def open_plain(url: str, endpoint: Endpoint) -> AsyncIterator[Compiled]:
    """LangChain's agent."""
    from langchain.agents import create_agent

    async with open_saver(url) as saver:
        model = _model(endpoint)
        agent = create_agent(model, [plain_order_query], system_prompt=PROMPT, checkpointer=saver)
        yield Compiled(agent, "create_agent")


class BareState(TypedDict):
    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer, snapshot_frequency=200)]


@asynccontextmanager
async def open_bare(url: str, endpoint: Endpoint) -> AsyncIterator[Compiled]:
    """The same stages in the same order, without the work: the model is asked, the tool is called, no more."""
    model = _model(endpoint).bind_tools([plain_order_query])

    async def nothing(state: BareState) -> dict[str, Any]:
        return {}

    async def call_model(state: BareState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke([("system", PROMPT), *state["messages"]])]}

    async def execute_tools(state: BareState) -> dict[str, Any]:
        last = state["messages"][-1]
        assert isinstance(last, AIMessage)
        results = [await plain_order_query.ainvoke({**call, "type": "tool_call"}) for call in last.tool_calls]
        return {"messages": [result for result in results if isinstance(result, ToolMessage)]}

    def after_model(state: BareState) -> str:
        last = state["messages"][-1]
        return "execute_tools" if isinstance(last, AIMessage) and last.tool_calls else "write_memory"

    graph = StateGraph(BareState)
    for name in ("route", "recall_memory", "assemble_context", "write_memory"):
        graph.add_node(name, nothing)
    graph.add_node("call_model", call_model)
    graph.add_node("execute_tools", execute_tools)
    for before, after in _EDGES:
        graph.add_edge(before, after)
    graph.add_edge(["route", "recall_memory"], "assemble_context")
    graph.add_conditional_edges("call_model", after_model, ["execute_tools", "write_memory"])
    async with open_saver(url) as saver:
        yield Compiled(graph.compile(checkpointer=saver), "bare graph")


_EDGES: Sequence[tuple[str, str]] = (
    (START, "route"),
    (START, "recall_memory"),
    ("assemble_context", "call_model"),
    ("execute_tools", "assemble_context"),
    ("write_memory", END),
)


def _model(endpoint: Endpoint) -> ChatOpenAI:
    return ChatOpenAI(model="chat", base_url=endpoint.url, api_key="bench", max_retries=0, temperature=0.4)  # type: ignore[arg-type]
