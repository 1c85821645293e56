"""Steward: a customer-service agent as a LangGraph state machine.

from graph import AgentContext, Settings, build_graph, open_agent, open_agent_sync

The names load at their first use: the command line shows its help without importing LangGraph.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from graph.shadow import check_packages

if TYPE_CHECKING:
    from graph.build import build_graph
    from graph.open import Agent, SyncAgent, open_agent, open_agent_sync
    from graph.settings import Settings
    from nodes.business import Business, Intent
    from nodes.business_texts import Texts
    from nodes.context import AgentContext
    from nodes.evaluation import Evaluation

check_packages(Path(__file__).parent.parent)

__all__ = [
    "Agent",
    "AgentContext",
    "Business",
    "Evaluation",
    "Intent",
    "Settings",
    "SyncAgent",
    "Texts",
    "build_graph",
    "open_agent",
    "open_agent_sync",
]

_HOMES = {
    "Agent": "graph.open",
    "AgentContext": "nodes.context",
    "Business": "nodes.business",
    "Evaluation": "nodes.evaluation",
    "Intent": "nodes.business",
    "Settings": "graph.settings",
    "SyncAgent": "graph.open",
    "Texts": "nodes.business_texts",
    "build_graph": "graph.build",
    "open_agent": "graph.open",
    "open_agent_sync": "graph.open",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'graph' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
