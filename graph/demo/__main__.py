"""`make demo`: a scripted customer conversation on real parts, shown stage by stage.

Everything is real but the model: Postgres, the queue, the tools, the approval. The offline demo model plays every
role, so the demo needs neither key nor network.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from langgraph.types import Command
from rich.console import Console
from rich.markup import escape
from rich.rule import Rule

from graph.cli.costs import cost_table
from graph.cli.running import report_error
from graph.demo.view import describe, request_lines
from graph.logs import configure_logs
from graph.open import Agent, open_agent
from graph.settings import Settings
from graph.shop import SHOP
from memory.store import list_memories
from nodes.context import AgentContext
from nodes.usage_report import report

CUSTOMER = "user_123"
TODAY = datetime(2024, 5, 27, 10, 0, tzinfo=ZoneInfo("Asia/Shanghai"))
TICKET = """
SELECT ticket_no, order_id, status, issue_desc, amount FROM shop.ticket
WHERE user_id = %s ORDER BY created_at DESC LIMIT 1
"""
REAL_MODEL = """
This was the offline demo model: it follows rules and understands little. For a real one, set any
OpenAI-compatible endpoint and talk to it:

    export OPENAI_API_KEY=sk-...                        # OpenAI, or with OPENAI_BASE_URL: DeepSeek, Qwen, …
    export OPENAI_BASE_URL=http://localhost:11434/v1    # Ollama, vLLM, llama.cpp
    export STEWARD_CHAT_MODEL=qwen3
    .venv/bin/steward doctor
    .venv/bin/steward chat --user user_123
"""


class Demo:
    """Plays the conversation and shows it."""

    def __init__(self, agent: Agent, console: Console) -> None:
        self._agent = agent
        self._console = console
        self._started = time.monotonic()

    async def play(self) -> None:
        """The six steps."""
        await self._look_up()
        await self._remember()
        await self._recall()
        await self._return()
        await self._english()
        await self._costs()

    async def _look_up(self) -> None:
        self._step(1, "Where is my order?")
        await self._say("first", "帮我查一下订单 ABC-20240520-001 到哪里了")
        seconds = time.monotonic() - self._started
        self._note(f"first answer after {seconds:.1f} s")

    async def _remember(self) -> None:
        self._step(2, "A preference, remembered behind the answer")
        await self._say("first", "以后查订单直接告诉我到哪了就行，不用再说支付状态")
        await self._agent.worker.drain(timeout=20)
        for memory in await list_memories(self._agent.services.database, CUSTOMER):
            self._note(
                f"user_memory: {memory.key} = {memory.content} ({memory.type}, {memory.confidence:.2f})"
            )

    async def _recall(self) -> None:
        self._step(3, "Three days later, a new session: recalled and followed")
        await self._say("second", "订单 DEF-20240525-002 什么情况了", days=3)

    async def _return(self) -> None:
        self._step(4, "A return: contact asked for, staff approve, reply reviewed")
        await self._say("third", "上次买的茶具，收到时有个杯子碎了，我要退货", days=3)
        await self._say("third", "我的电话是 13800138123", days=3)
        await self._approve("third")
        ticket = await self._agent.services.database.fetch_one(TICKET, (CUSTOMER,))
        self._note(f"shop.ticket: {' · '.join(str(value) for value in (ticket or {}).values())}")

    async def _english(self) -> None:
        self._step(5, "The same in English")
        await self._say("fourth", "Hi! Is order ABC-20240520-001 still on its way?", days=3)

    async def _costs(self) -> None:
        self._step(6, "What it all cost, in tokens by class")
        await self._agent.worker.drain(timeout=20)
        await self._agent.services.usage.flush()
        rows = await report(self._agent.services.database, user=CUSTOMER)
        self._console.print(cost_table(rows, first_column="conversation"))

    async def _say(self, thread: str, text: str, *, days: int = 0) -> None:
        self._console.print(f"\n[bold]{CUSTOMER}[/]  {escape(text)}")
        await self._turn(
            thread, {"messages": [("user", text)]}, AgentContext(user_id=CUSTOMER, now=_day(days))
        )

    async def _approve(self, thread: str) -> None:
        self._console.print("\n[bold]staff[/]  approve")
        context = AgentContext(user_id=CUSTOMER, now=_day(3), role="staff")
        await self._turn(thread, Command(resume={"decisions": [{"type": "approve"}]}), context)

    async def _turn(self, thread: str, given: Any, context: AgentContext) -> None:
        config: Any = {"configurable": {"thread_id": thread}}
        interrupted = False
        async for event in self._agent.graph.astream(given, config, context=context, stream_mode="updates"):
            for node, update in event.items():
                if node == "__interrupt__":
                    interrupted = True
                    self._show("waits", request_lines(update[0].value["action_requests"]), style="yellow")
                else:
                    self._show(node, describe(node, update))
        state = (await self._agent.graph.aget_state(config)).values
        if state.get("answer") and not interrupted:
            self._console.print(f"[bold green]steward[/]  {escape(state['answer'])}")

    def _show(self, stage: str, lines: Sequence[str], *, style: str = "cyan") -> None:
        for place, line in enumerate(lines):
            name = stage if place == 0 else ""
            self._console.print(f"  [{style}]{name:<17}[/] [dim]{escape(line)}[/]")

    def _step(self, number: int, title: str) -> None:
        self._console.print()
        self._console.print(Rule(f"[bold]{number}  {title}[/]", align="left", style="blue"))

    def _note(self, text: str) -> None:
        self._console.print(f"  [magenta]→[/] {escape(text)}")


def _day(days: int) -> datetime:
    return TODAY + timedelta(days=days)


async def play(home: Path, console: Console) -> None:
    """Open a fresh agent in the folder and play the demo on it."""
    settings = Settings(
        _env_file=None,  # type: ignore[call-arg]
        steward_home=home,
        database_url=None,
        openai_api_key=None,
        openai_base_url=None,
        steward_worker="external",
    )
    configure_logs(settings)
    console.print("[dim]Starting Postgres, migrating, seeding the shop …[/]")
    async with open_agent(settings, SHOP) as agent:
        await Demo(agent, console).play()
    console.print(escape(REAL_MODEL))


def main() -> int:
    """Play the demo in a folder of its own, which is gone afterwards."""
    console = Console(highlight=False, soft_wrap=True)
    root = Path(".steward")
    root.mkdir(exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="demo-", dir=root))
    started = time.monotonic()
    try:
        asyncio.run(play(home, console))
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        return report_error(error, debug=os.environ.get("STEWARD_LOG_LEVEL", "").lower() == "debug")
    finally:
        shutil.rmtree(home, ignore_errors=True)
    console.print(f"[dim]The demo took {time.monotonic() - started:.0f} s.[/]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
