"""One turn inside your own program: `python examples/embed.py "Where is my order ABC-20240520-001?"`."""

from __future__ import annotations

import asyncio
import sys
from uuid import uuid4

from langchain_core.messages import HumanMessage

from graph import AgentContext, open_agent


async def main(text: str) -> None:
    async with open_agent() as agent:
        state = await agent.graph.ainvoke(
            {"messages": [HumanMessage(text)]},
            {"configurable": {"thread_id": str(uuid4())}},
            context=AgentContext(user_id="user_123"),
        )
    sys.stdout.write(state["answer"] + "\n")


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:]) or "订单 ABC-20240520-001 到哪里了"))
