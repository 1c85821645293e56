"""A turn as it is written: the answer's pieces on standard output, what the tools do on standard error.

python examples/embed_stream.py "Where is my order ABC-20240520-001?"
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from graph import AgentContext, open_agent
from graph.conversation import send


class Screen:
    """Watches a turn."""

    def text(self, piece: str) -> None:
        sys.stdout.write(piece)

    def void(self) -> None:
        """What was written so far in this message turned out to be no part of the answer."""
        sys.stdout.write("\n")

    def event(self, event: Mapping[str, Any]) -> None:
        sys.stderr.write(f"· {event['text']}\n" if event.get("text") else "")


async def main(text: str) -> None:
    async with open_agent() as agent:
        await send(agent, text, str(uuid4()), AgentContext(user_id="user_123"), Screen())
    sys.stdout.write("\n")


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:]) or "订单 ABC-20240520-001 到哪里了"))
