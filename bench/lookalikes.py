"""Users whose ids look alike, all at once on one agent: nobody is served a row of another (M11).

    python -m bench.lookalikes [--users 200]

Ids differ by a wildcard, by case, by the form of a Unicode character, by blanks around them, by one character at their
end. Each user has a memory, an order, and a turn that waits for their approval. Then all are asked for at once: recall,
session facts, latest orders, costs, waiting approvals, export. Exit code 1 where a row of another turns up.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count, islice
from pathlib import Path
from typing import Any

from graph import AgentContext, Settings, open_agent
from graph.open import Agent
from graph.personal_data import export
from graph.threads import waiting_threads
from memory.recall import RecallRequest, recall, recall_for_turn
from memory.store import list_memories, set_memory
from nodes.usage_report import report
from tests.support.model_replies import Call, Reply, Request
from tests.support.model_server import ModelServer

STEMS = (
    "user_1", "user%1", "user.1", "User_1", "USER_1", "user-1", "mei@example.com", "Mei@example.com",
    "mei+x@example.com", "用户一", "用户", "\u00e9ve", "e\u0301ve", "\u212bke", "\u00c5ke", "😀", "😀\ufe0f", "a/b:c",
    "a/b", "'; DROP TABLE x; --", "\\", "%", "_", "*", "null", "0", "00", "${x}", "../..", "ﬀ", "ff", "Ｕ１", "U1", "ß",
    "ss",
)  # fmt: skip
ENDINGS = ("", " ", "_", "%", "\u200b", "\t", "x", "1", ".", "\u3000")
NUMBER = re.compile(r"MK\d{4}Z-20240527-001")
CUSTOMER = """
INSERT INTO shop.customer SELECT %(user)s, name_zh, name_en, phone, email, city_zh, city_en, created_at
  FROM shop.customer WHERE user_id = 'user_123' ON CONFLICT DO NOTHING
"""
ORDER = """
INSERT INTO shop.customer_order VALUES
    (%(order)s, %(user)s, 'paid', 'paid', 'alipay', 1, %(order)s, '13800138123', '上海', now(), now())
"""


@dataclass(frozen=True)
class User:
    """An id, and a word that only this user's rows hold."""

    id: str
    mark: str

    @property
    def order(self) -> str:
        return f"{self.mark}-20240527-001"


def users(most: int) -> list[User]:
    """So many ids, each close to many others."""
    return [User(id, f"MK{number:04d}Z") for number, id in enumerate(islice(_ids(), most))]


def _ids() -> Iterator[str]:
    seen: set[str] = set()
    for number in count():
        for ending in ENDINGS:
            for stem in STEMS:
                id = f"{' ' * number}{stem}{ending}"
                if id not in seen:
                    seen.add(id)
                    yield id


def script(request: Request) -> Reply:
    """Cancels the order that the customer names, which asks them first."""
    last = request["messages"][-1]
    if last["role"] != "user":
        return Reply("Done.")
    order = NUMBER.findall(str(last["content"]))[-1]
    return Reply(
        text=None,
        calls=[Call("order_query", {}), Call("order_update", {"order_id": order, "action": "cancel"})],
    )


async def strangers(agent: Agent, everybody: list[User]) -> list[str]:
    """What was served to a user and holds the word of another."""
    marks = [user.mark for user in everybody]
    threads = await asyncio.gather(*(_arrive(agent, user) for user in everybody))
    seen = await asyncio.gather(
        *(_all_of(agent, user, thread) for user, thread in zip(everybody, threads, strict=True))
    )
    found = []
    for user, views in zip(everybody, seen, strict=True):
        for name, text in views.items():
            if user.mark not in text:
                found.append(f"{user.id!r} does not get their own {name}")
            found += [
                f"{user.id!r} gets {mark} in {name}" for mark in marks if mark != user.mark and mark in text
            ]
    return found


async def _arrive(agent: Agent, user: User) -> str:
    services = agent.services
    values = {"user": user.id, "order": user.order}
    await services.database.execute(CUSTOMER, values)
    await services.database.execute(ORDER, values)
    await set_memory(
        services.database, services.embedder, user.id, "colour", f"Likes the colour {user.mark}."
    )
    thread = f"thread-{user.mark}"
    await agent.graph.ainvoke(
        {"messages": [("user", f"Please cancel {user.order}")]},
        {"configurable": {"thread_id": thread}},
        context=AgentContext(user_id=user.id, locale="en"),
    )
    await services.usage.flush()
    return thread


async def _all_of(agent: Agent, user: User, thread: str) -> Mapping[str, str]:
    services = agent.services
    database, embedder = services.database, services.embedder
    request = RecallRequest(user.id, "Which colour do I like?", datetime.now(UTC), k=20, floor=None)
    state = await agent.graph.aget_state({"configurable": {"thread_id": thread}})
    views: dict[str, Any] = {
        "recall": await recall(database, embedder, request),
        "recall for a turn": (await recall_for_turn(database, embedder, request, thread)).memories,
        "memories": await list_memories(database, user.id),
        "conversation": state.values["messages"],
        "orders": state.values["tool_calls"],
        "costs": await report(database, user=user.id),
        "approvals": await waiting_threads(services, user=user.id),
        "export": await export(database, user.id),
    }
    return {name: json.dumps(view, default=str, ensure_ascii=False) for name, view in views.items()}


async def run(home: Path, most: int, database_url: str | None = None) -> list[str]:
    """Rows of others that were served, on a fresh database."""
    with ModelServer(script) as server:
        values = {
            "database_url": database_url,
            "steward_home": home,
            "steward_routing": "off",
            "steward_review": "off",
            "steward_worker": "external",
            "steward_max_tools": 20,
            "steward_pool_size": 60,
            "steward_turn_seconds": 3600,  # everybody at once on a small machine: nobody is to be turned away
            "steward_log_level": "error",
            **server.settings(),
        }
        async with open_agent(Settings(_env_file=None, **values), _shop()) as agent:  # type: ignore[call-arg, arg-type]
            return await strangers(agent, users(most))


def _shop() -> Any:
    from bench.injection.business import Office, business

    return business(Office())


def main() -> None:
    """Ask for everybody at once and print what was not theirs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, default=200)
    arguments = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as home:
        found = asyncio.run(run(Path(home), arguments.users))
    print(
        f"{arguments.users} users at once, in {time.monotonic() - began:.0f} s: {len(found)} rows of another"
    )
    for line in found[:20]:
        print(f"  {line}")
    raise SystemExit(bool(found))


if __name__ == "__main__":
    main()
