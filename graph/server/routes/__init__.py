"""Routes of ours beside the LangGraph server's own API."""

from graph.server.console import page
from graph.server.console import routes as console
from graph.server.routes import conversations, health, memories, spending

ROUTES = [
    *health.ROUTES,
    *memories.ROUTES,
    *spending.ROUTES,
    *conversations.ROUTES,
    *page.ROUTES,
    *console.ROUTES,
]
