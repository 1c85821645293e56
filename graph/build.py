"""The state machine: stages as nodes, the flow as named edges. What is drawn is what runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import END, START, StateGraph

from graph import edges
from graph.bind import ServiceHolder, bind
from graph.chosen_business import chosen_business
from graph.faults import served
from graph.first_stages import FIRST_STAGES
from graph.holder import Holder
from graph.overriding import context_schema
from graph.settings import Settings
from nodes.assemble_context import assemble_context
from nodes.business import Business
from nodes.call_model import call_model
from nodes.clarify import clarify
from nodes.context import AgentContext
from nodes.execute_tools import execute_tools
from nodes.recall_memory import recall_memory
from nodes.reflect import reflect
from nodes.request_approval import request_approval
from nodes.route import route
from nodes.run import Node
from nodes.state import AgentState, TurnInput
from nodes.write_memory import write_memory

Graph = StateGraph[AgentState, AgentContext, TurnInput, AgentState]

STAGES: Mapping[str, Node] = {
    "route": route,
    "recall_memory": recall_memory,
    "assemble_context": assemble_context,
    "clarify": clarify,
    "call_model": call_model,
    "execute_tools": execute_tools,
    "request_approval": request_approval,
    "reflect": reflect,
    "write_memory": write_memory,
}


def build_graph(
    business: Business | None = None,
    settings: Settings | None = None,
    *,
    stages: Mapping[str, Node] | None = None,
    holder: ServiceHolder | None = None,
) -> Graph:
    """The uncompiled graph of a business (None: the one that STEWARD_BUSINESS names), for one's own checkpointer.

    `stages` replaces single stages by name; `holder` shares the services of an agent that is already open.

        graph = build_graph(SHOP, Settings()).compile(checkpointer=saver)
    """
    settings = settings or Settings.load()
    business = business or chosen_business(settings)
    holder = holder or Holder(settings, business)
    schema = context_schema(business, settings)
    graph: Graph = StateGraph(AgentState, context_schema=schema, input_schema=TurnInput)
    for name, stage in {**STAGES, **(stages or {})}.items():
        node = served(name, stage)
        graph.add_node(name, bind(name, FIRST_STAGES[name](node) if name in FIRST_STAGES else node, holder))
    _connect(graph)
    return graph


class _Path(Runnable[AgentState, Any]):
    """A decision of `graph.edges`, called as it is: LangGraph would trace a plain function like a stage of its own, and
    hand it to a thread."""

    def __init__(self, decide: Callable[[AgentState], Any]) -> None:
        self.decide = decide
        self.name = decide.__name__

    def invoke(self, input: AgentState, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return self.decide(input)

    async def ainvoke(self, input: AgentState, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return self.decide(input)


def _connect(graph: Graph) -> None:
    graph.add_conditional_edges(
        START, _Path(edges.at_the_start), {"what is asked": "route", "what is known": "recall_memory"}
    )
    graph.add_conditional_edges(
        "route",
        _Path(edges.after_route),
        {"routed": "assemble_context", "with staff": END, "waiting for staff": "request_approval"},
    )
    graph.add_edge("recall_memory", "assemble_context")
    graph.add_conditional_edges(
        "assemble_context",
        _Path(edges.after_assembly),
        {"ready": "call_model", "unsure": "clarify", "answered": "write_memory"},
    )
    graph.add_edge("clarify", "write_memory")
    graph.add_conditional_edges(
        "call_model",
        _Path(edges.after_model),
        {
            "tools": "execute_tools",
            "review": "reflect",
            "answer": "write_memory",
            "too long": "assemble_context",
        },
    )
    graph.add_conditional_edges(
        "execute_tools",
        _Path(edges.after_tools),
        {
            "retry": "execute_tools",
            "approval": "request_approval",
            "results": "assemble_context",
            "with staff": "write_memory",
        },
    )
    graph.add_conditional_edges(
        "request_approval",
        _Path(edges.after_approval),
        {"settled": "execute_tools", "undecided": "request_approval"},
    )
    graph.add_conditional_edges(
        "reflect", _Path(edges.after_review), {"final": "write_memory", "another round": "reflect"}
    )
    graph.add_conditional_edges(
        "write_memory", _Path(edges.after_memory), {"done": END, "waiting for staff": "request_approval"}
    )
