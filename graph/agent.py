"""What `langgraph.json` names: the graph without a checkpointer, which the server brings."""

from __future__ import annotations

from graph.build import build_graph
from graph.holder import Holder
from graph.settings import Settings
from graph.shop.business import SHOP

GRAPH_ID = "steward"
"""What langgraph.json calls the graph."""

holder = Holder(Settings.load(), SHOP)
"""Shared with the server's checkpointer and routes; opens nothing before the first request."""

graph = build_graph(SHOP, holder.settings, holder=holder).compile(name="steward")
