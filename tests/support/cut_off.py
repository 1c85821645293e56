"""Runs that end in the middle, as a kill ends them, without the process."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any, cast

from langchain_core.messages import HumanMessage
from langgraph.graph.state import CompiledStateGraph

from graph.one_turn import OneTurnGraph


async def announce(graph: OneTurnGraph, thread_id: str, message: HumanMessage) -> None:
    """Have a run end between its input's checkpoint and its first step."""
    config: Any = {"configurable": {"thread_id": thread_id}}
    given: Any = {"messages": [message]}
    events = CompiledStateGraph.astream(graph, given, config, stream_mode="checkpoints", durability="sync")
    async with aclosing(cast(Any, events)):
        async for event in events:
            if event["metadata"]["source"] == "input":
                return
