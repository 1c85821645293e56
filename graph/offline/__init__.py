"""The demo model that plays every role when there is no endpoint: deterministic, and honest about what it is."""

from graph.offline.model import MODEL_NAME, OfflineModel
from graph.offline.script import Call, Reply, Script
from graph.offline.view import ChatView, ToolResult

__all__ = ["MODEL_NAME", "Call", "ChatView", "OfflineModel", "Reply", "Script", "ToolResult"]
