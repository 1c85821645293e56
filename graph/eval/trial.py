"""One trial: a case's conversation played on a fresh database, each turn judged as it ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import structlog
from langgraph.types import StateSnapshot

from graph.conversation import send, settle
from graph.costs import total
from graph.eval.cases import Case, Look, Step
from graph.eval.judging import judge_turn, judge_view
from graph.open import Agent
from graph.outcome import turn_outcome
from memory.errors import StewardError
from memory.store import list_memories
from nodes.checks import Checker, FaultKind
from nodes.context import AgentContext
from nodes.review_sources import review_sources
from nodes.run import Run
from nodes.usage_report import report

log = structlog.get_logger(__name__)

MEMORIES = "memories"
JOBS_SECONDS = 120.0
"""For the memory jobs of a conversation, where a later turn builds on them."""
INVENTED: frozenset[FaultKind] = frozenset({"identifier", "amount", "date"})


@dataclass(frozen=True)
class Failure:
    """Where a trial fell short. `turn` counts from 1; 0 is the end of the conversation."""

    turn: int
    what: str


@dataclass
class Trial:
    """What came of playing a case once."""

    failures: list[Failure] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    """Of each turn."""
    tokens: int = 0
    cost: float = 0.0
    unpriced_calls: int = 0

    @property
    def passed(self) -> bool:
        return not self.failures


async def play(case: Case, agent: Agent) -> Trial:
    """Play a case with an agent on a fresh database. Every turn is played, also after one that fell short."""
    trial = Trial()
    thread = case.turns[0].thread
    for number, step in enumerate(case.turns, 1):
        if step.thread != thread:
            await agent.worker.drain(timeout=JOBS_SECONDS)
            thread = step.thread
        started = time.perf_counter()
        try:
            snapshot = await _take(step, case, agent)
        except StewardError as error:
            trial.failures.append(Failure(number, str(error)))
            break
        except Exception as error:
            log.exception("case broke off", case=case.id, turn=number)
            trial.failures.append(Failure(number, f"unexpected error ({type(error).__name__})"))
            break
        finally:
            trial.seconds.append(time.perf_counter() - started)
        faults = await _judge(step, case, agent, snapshot)
        trial.failures.extend(Failure(number, fault) for fault in faults)
    for look in case.end:
        trial.failures.extend(Failure(0, fault) for fault in await _look(look, case, agent))
    await _book(trial, agent)
    return trial


async def _take(step: Step, case: Case, agent: Agent) -> StateSnapshot:
    thread_id, context = f"{case.id}-{step.thread}", _context(step, case)
    if step.say is not None:
        return await send(agent, step.say, thread_id, context)
    snapshot: StateSnapshot = await agent.graph.aget_state({"configurable": {"thread_id": thread_id}})
    verdict: dict[str, Any] = {"type": step.decide}
    if step.args is not None:
        verdict["args"] = step.args
    if step.message is not None:
        verdict["message"] = step.message
    decisions = {r["call_id"]: verdict for r in snapshot.values.get("approvals", []) if r["by"] == step.by}
    return await settle(agent, {"decisions": decisions}, thread_id, context)


def _context(step: Step, case: Case) -> AgentContext:
    now = case.now + timedelta(days=step.days_later) if case.now else None
    return AgentContext(user_id=case.user, now=now, role="customer" if step.say is not None else step.by)


async def _judge(step: Step, case: Case, agent: Agent, snapshot: StateSnapshot) -> Sequence[str]:
    state: Any = snapshot.values
    thread_id = f"{case.id}-{step.thread}"
    requests = state.get("approvals", []) if snapshot.interrupts else []
    return judge_turn(
        step.expect,
        turn_outcome(thread_id, snapshot),
        waits=[request["by"] for request in requests],
        handed_over=bool(state.get("handoff")),
        invented=await _invented(state, Run(agent.services, _context(step, case), thread_id, {}, _nowhere)),
    )


async def _invented(state: Any, run: Run) -> list[str]:
    """Numbers, amounts and dates of the answer that no source of the turn has."""
    answer = state.get("answer")
    if not answer:
        return []
    checked = await asyncio.to_thread(lambda: Checker(review_sources(state, run)).check(answer))
    return [fault.quote for fault in checked.faults if fault.kind in INVENTED]


async def _look(look: Look, case: Case, agent: Agent) -> list[str]:
    services = agent.services
    if look.view == MEMORIES:
        await agent.worker.drain(timeout=JOBS_SECONDS)
        memories = await list_memories(services.database, case.user, now=case.now)
        return judge_view(MEMORIES, look.is_, [memory.content for memory in memories])
    assert services.business.evaluation, "views are checked when the cases are read"
    view = services.business.evaluation.views[look.view]
    return judge_view(look.view, look.is_, await view(services.database, case.user, look.of))


async def _book(trial: Trial, agent: Agent) -> None:
    spent = total(await report(agent.services.database))
    trial.tokens = spent["prompt_tokens"] + spent["completion_tokens"]
    trial.cost = spent["cost"]
    trial.unpriced_calls = spent["unpriced_calls"]


def _nowhere(_: dict[str, Any]) -> None:
    """Nobody watches."""
