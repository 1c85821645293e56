"""What `langgraph.json` names: the graph without a checkpointer, which the server brings."""

from __future__ import annotations

from graph.build import build_graph
from graph.chosen_business import chosen_business
from graph.holder import Holder
from graph.one_turn import OneTurnGraph
from graph.settings import Settings

GRAPH_ID = "steward"
"""What langgraph.json calls the graph."""

settings = Settings.load()
holder = Holder(settings, chosen_business(settings))
"""Shared with the server's checkpointer and routes; opens nothing before the first request."""

graph = OneTurnGraph.of(
    build_graph(holder.business, settings, holder=holder).compile(name="steward"), holder, asks_again=True
)
