"""A turn from code without an event loop: `python examples/embed_sync.py "Where is my order ABC-20240520-001?"`."""

from __future__ import annotations

import sys
from uuid import uuid4

from graph import AgentContext, open_agent_sync


def main(text: str) -> None:
    with open_agent_sync() as agent:
        state = agent.invoke(
            {"messages": [("user", text)]},
            {"configurable": {"thread_id": str(uuid4())}},
            context=AgentContext(user_id="user_123"),
        )
    sys.stdout.write(state["answer"] + "\n")


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "订单 ABC-20240520-001 到哪里了")
