"""Every tau-bench retail task through the whole graph: the ground-truth calls come from a replayed model.

    python -m bench.tau DATA [--tasks N]

A task passes when the database differs from the data set by exactly `expected_diff` afterwards. Routing, review and
long-term memory are off and no argument asks for grounding, since the ground truth skips the look-ups.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.tau_retail.business import retail
from bench.tau_retail.store import changed, load, restore
from graph import AgentContext, Settings, open_agent
from tests.support.model_replies import Reply, Request, tool_call
from tests.support.model_server import ModelServer

Task = dict[str, Any]
FILES = ("tasks_dev.jsonl", "tasks_train.jsonl")


@dataclass
class Replay:
    """Plays the model: the task's next action at each call, then a word at the end."""

    actions: list[Task] = field(default_factory=list)

    def __call__(self, request: Request) -> Reply:
        if not self.actions:
            return Reply(text="Done.")
        action = self.actions.pop(0)
        return tool_call(action["name"], action["arguments"])


def read_tasks(folder: Path) -> list[Task]:
    return [json.loads(line) for name in FILES for line in (folder / name).read_text("utf-8").splitlines()]


async def run(folder: Path, limit: int | None, settings: Settings, replay: Replay) -> list[str]:
    """Ids of the tasks that did not reach their end state."""
    business = retail(
        json.loads((folder / "tools.json").read_text("utf-8")), (folder / "policy.md").read_text("utf-8")
    )
    failed: list[str] = []
    async with open_agent(settings, business) as agent:
        database = agent.services.database
        await load(database, json.loads((folder / "db.json").read_text("utf-8")))
        for task in read_tasks(folder)[:limit]:
            replay.actions = list(task["actions"])
            await agent.graph.ainvoke(
                {"messages": [("user", task["instruction"])]},
                {"configurable": {"thread_id": task["id"]}},
                context=AgentContext(user_id=task["user_id"]),
            )
            if replay.actions or await changed(database) != task["expected_diff"]:
                failed.append(task["id"])
            await restore(database)
    return failed


def main() -> None:
    """Run the tasks on a fresh database and print how many passed."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("data", type=Path, help="folder that holds tau_retail/")
    parser.add_argument("--tasks", type=int, default=None, help="only the first so many")
    arguments = parser.parse_args()
    replay = Replay()
    with tempfile.TemporaryDirectory() as home, ModelServer(replay) as server:
        settings = Settings(
            steward_home=Path(home),
            steward_routing="off",
            steward_review="off",
            steward_long_term_memory="off",
            steward_max_tools=16,
            **server.settings(),
        )
        folder = arguments.data / "tau_retail"
        began = time.perf_counter()
        failed = asyncio.run(run(folder, arguments.tasks, settings, replay))
        seconds = time.perf_counter() - began
    total = len(read_tasks(folder)[: arguments.tasks])
    print(f"{total - len(failed)} of {total} tasks reach their end state, in {seconds:.0f} s")
    if failed:
        raise SystemExit(f"failed: {', '.join(failed[:20])}")


if __name__ == "__main__":
    main()
