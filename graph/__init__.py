"""Steward: a customer-service agent as a LangGraph state machine.

from graph import AgentContext, Settings, build_graph, open_agent, open_agent_sync
"""

from graph.build import build_graph
from graph.open import Agent, SyncAgent, open_agent, open_agent_sync
from graph.settings import Settings
from nodes.business import Business, Intent
from nodes.context import AgentContext

__all__ = [
    "Agent",
    "AgentContext",
    "Business",
    "Intent",
    "Settings",
    "SyncAgent",
    "build_graph",
    "open_agent",
    "open_agent_sync",
]
