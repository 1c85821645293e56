"""The soak: sessions, restarts of Postgres beneath them, and what is left in the end."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from langchain_core.messages import HumanMessage

from bench.kill.business import BUSINESS
from bench.kill.invariants import doubled, effects_of, left_jobs, unmatched, untrue
from bench.kill.processes import ModelProcess
from bench.soak.model import FailingScript
from bench.soak.session import Session, Told
from graph.open import Agent, open_agent
from graph.settings import Settings
from memory.embedded import EmbeddedPostgres
from memory.embeddings import make_embedder

ENDS = (signal.SIGINT, signal.SIGQUIT)
"""A fast shutdown, which drops all connections; an immediate one, after which Postgres recovers as from a crash."""
LONGEST_DRAIN = 120.0
DUE_NOW = (
    "UPDATE procrastinate_jobs SET scheduled_at = now() WHERE status = 'todo' AND task_name = 'remember_turn'"
)
MEMORIES = "SELECT memory_key FROM user_memory WHERE user_id = %s AND valid_to IS NULL"


@dataclass(frozen=True)
class Plan:
    """How much, and how bad."""

    sessions: int
    seconds: float
    restart_every: float
    failing: float
    """Share of model requests."""
    seed: int


@dataclass(frozen=True)
class Result:
    """What came of it."""

    told: Told
    restarts: int
    effects: int
    seconds: float


async def soak(plan: Plan, home: Path, progress: Callable[[str], object]) -> Result:
    """Run the sessions to the end of the time, let the queue run dry, then look at every thread."""
    server = EmbeddedPostgres(home)
    told = Told()
    with ModelProcess(FailingScript(plan.seed, plan.failing)) as model:
        url = server.start()
        settings = Settings(
            _env_file=None,  # type: ignore[call-arg]
            database_url=url,
            steward_home=home,
            steward_local_router="off",
            steward_log_level="error",
            **model.settings(),  # type: ignore[arg-type]
        )
        try:
            await make_embedder(settings).embed(["warm"])
            async with open_agent(settings, BUSINESS) as agent:
                sessions = [Session(agent, number, plan.seed, told) for number in range(plan.sessions)]
                began = time.monotonic()
                restarting = asyncio.create_task(_restart(home, plan, told, progress))
                await asyncio.gather(*(session.until(began + plan.seconds) for session in sessions))
                restarting.cancel()
                restarts = (await asyncio.gather(restarting, return_exceptions=True))[0]
                effects = await _look(agent, sessions, told)
                told.faults += [f"the model endpoint refused: {fault}" for fault in model.faults()]
                return Result(told, int(restarts), effects, time.monotonic() - began)  # type: ignore[arg-type]
        finally:
            server.release()


async def _restart(home: Path, plan: Plan, told: Told, progress: Callable[[str], object]) -> int:
    """End Postgres time and again; whoever looks after the embedded one starts it anew. How often, when cancelled."""
    restarts = 0
    try:
        for _ in range(int(plan.seconds / plan.restart_every)):
            await asyncio.sleep(plan.restart_every)
            pid = int((home / "postgres/data/postmaster.pid").read_text(encoding="utf-8").split()[0])
            os.kill(pid, ENDS[restarts % len(ENDS)])
            restarts += 1
            progress(f"restart {restarts}: {dict(told.turns)}, sent again {dict(told.sent_again)}")
    except asyncio.CancelledError:
        pass
    return restarts


async def _run_dry(agent: Agent) -> list[str]:
    """Process every job, those first that wait for another try; what is left of the queue then."""
    end = time.monotonic() + LONGEST_DRAIN
    while left := await left_jobs(agent):
        if time.monotonic() > end:
            break
        await agent.services.database.execute(DUE_NOW)
        await agent.worker.drain(timeout=LONGEST_DRAIN)
    return left


async def _look(agent: Agent, sessions: list[Session], told: Told) -> int:
    """Every message once, every call with its result, no effect twice, everything remembered. How many effects."""
    effects_seen = 0
    told.faults += await _run_dry(agent)
    for session in sessions:
        for thread_id, numbers in session.sent.items():
            state = await agent.graph.aget_state({"configurable": {"thread_id": thread_id}})
            messages = state.values["messages"]
            said = Counter(m.id for m in messages if isinstance(m, HumanMessage))
            lost = [number for number in numbers if said[f"message-{number}"] != 1]
            effects = await effects_of(agent, thread_id)
            effects_seen += sum(effects.values())
            faults = [*doubled(effects), *untrue(messages, effects), *unmatched(messages)]
            faults += [f"message {number} does not stand exactly once" for number in lost]
            faults += ["the thread is not at rest"] if state.tasks else []
            told.faults += [f"{thread_id}: {fault}" for fault in faults]
        kept = Counter(
            row["memory_key"] for row in await agent.services.database.fetch(MEMORIES, (session.user_id,))
        )
        wrong = [number for number in session.remembered if kept[f"allergy_{number}"] != 1]
        told.faults += [f"what message {number} said is not kept exactly once" for number in wrong]
    return effects_seen
