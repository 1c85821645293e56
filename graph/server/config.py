"""What the LangGraph server is told: the content of langgraph.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CONFIG: Mapping[str, Any] = {
    "dependencies": ["."],
    "graphs": {"steward": "graph.agent:graph"},
    "checkpointer": {"path": "graph.server.app.checkpointer"},
    "http": {
        "app": "graph.server.app:app",
        # Pages of this machine and Studio; what else runs in a browser has no business here.
        "cors": {
            # Named, since the server would add every other origin where none is.
            "allow_origins": ["https://smith.langchain.com"],
            "allow_origin_regex": "https://([a-z]+\\.)?smith\\.langchain\\.com|https?://(localhost|127\\.0\\.0\\.1|\\[::1\\])(:[0-9]+)?",
            "allow_methods": ["*"],
            "allow_headers": ["*"],
            "expose_headers": ["x-pagination-total", "x-pagination-next", "content-location"],
        },
    },
    # Studio's own scheme would let anybody in who sends its header.
    "auth": {"path": "graph.server.auth:auth", "disable_studio_auth": True},
}
"""What langgraph.json in the checkout says, for where there is no checkout."""
