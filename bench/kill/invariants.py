"""What must hold of a thread once it has been taken up again, read from Postgres (O2, T8, M8)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from bench.kill.case import Case
from bench.kill.script import PLANS, answer
from graph.open import Agent
from nodes.context_groups import call_ids

EFFECTS = "SELECT tool, item, count(*) AS times FROM proof.effect WHERE thread_id = %s GROUP BY tool, item"
LEDGER = (
    "SELECT tool, arguments, error_kind FROM tool_call WHERE thread_id = %s AND idempotency_key IS NOT NULL"
)
TURNS = "SELECT turn_id, count(*) AS times FROM session_turn WHERE thread_id = %s GROUP BY turn_id"
MEMORIES = "SELECT memory_key FROM user_memory WHERE user_id = %s AND valid_to IS NULL"
JOBS = "SELECT task_name, status::text FROM procrastinate_jobs WHERE status = 'failed' OR task_name = 'remember_turn'"
WRITES = {"book", "file_ticket", "cancel", "refund"}
NOT_DONE = {"cancelled", "denied", "waiting", "unavailable", "unknown_tool"}
"""What a call may be told as that has not taken effect; the last where the router was down and no tool is offered."""

Effects = Counter[tuple[str, str]]


async def violations(agent: Agent, case: Case, accepted: bool) -> list[str]:
    """Every invariant that the case breaks, in words. `accepted`: its first message was in the database at the kill."""
    database = agent.services.database
    state = await agent.graph.aget_state({"configurable": {"thread_id": case.thread_id}})
    messages: list[AnyMessage] = state.values.get("messages", [])
    effects = await effects_of(agent, case.thread_id)
    ledger = await database.fetch(LEDGER, (case.thread_id,))
    turns = {row["turn_id"]: row["times"] for row in await database.fetch(TURNS, (case.thread_id,))}
    memories = [row["memory_key"] for row in await database.fetch(MEMORIES, (case.user_id,))]
    return [
        *doubled(effects),
        *_missing(case, effects, ledger),
        *untrue(messages, effects),
        *unmatched(messages),
        *_answers(case, state.values, bool(state.tasks)),
        *_customer_messages(case, messages, accepted),
        *_remembered(case, turns, memories, accepted),
    ]


async def effects_of(agent: Agent, thread_id: str) -> Effects:
    """What has taken effect for the thread, and how often."""
    rows = await agent.services.database.fetch(EFFECTS, (thread_id,))
    return Counter({(row["tool"], row["item"]): row["times"] for row in rows})


async def left_jobs(agent: Agent) -> list[str]:
    """Memory jobs that were given up, or that are still there after the queue has been drained."""
    rows = await agent.services.database.fetch(JOBS)
    return [f"memory job {row['task_name']} is left as {row['status']}" for row in rows]


def doubled(effects: Effects) -> Iterator[str]:
    """Side effects that have happened more than once."""
    for (tool, item), times in effects.items():
        if times > 1:
            yield f"{tool}({item}) took effect {times} times"


def _missing(case: Case, effects: Effects, ledger: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A turn that was finished has done all that was wished, but for what is said to be in doubt."""
    if case.taken_up != "resume":
        return
    doubtful = {(r["tool"], r["arguments"]["item"]) for r in ledger if r["error_kind"] == "in_doubt"}
    for step in PLANS[case.kind]:
        for tool, item in step:
            call = (tool, f"{case.number}-{item}")
            if tool in WRITES and not effects[call] and call not in doubtful:
                yield f"{tool}({call[1]}) never took effect"


def untrue(messages: Sequence[AnyMessage], effects: Effects) -> Iterator[str]:
    """What the model was told of a side effect is what happened."""
    told: dict[tuple[str, str], set[str]] = {}
    for call, result in _pairs(messages):
        if call["name"] in WRITES:
            told.setdefault((call["name"], call["args"]["item"]), set()).add(_verdict(result))
    for call_key, verdicts in told.items():
        if "done" in verdicts and effects[call_key] != 1:
            yield f"{call_key} is told as done, and took effect {effects[call_key]} times"
        if verdicts <= NOT_DONE and effects[call_key]:
            yield f"{call_key} is told as not done ({verdicts}), and took effect"
        if not verdicts <= {"done", "in_doubt", *NOT_DONE}:
            yield f"{call_key} is told as {verdicts}"


def _verdict(result: ToolMessage) -> str:
    envelope = json.loads(result.text)
    if envelope["status"] == "ok":
        return "done" if envelope["data"]["state"] == "done" else "waiting"
    return str(envelope["error_kind"])


def _pairs(messages: Sequence[AnyMessage]) -> Iterator[tuple[Any, ToolMessage]]:
    results = {m.tool_call_id: m for m in messages if isinstance(m, ToolMessage)}
    for message in messages:
        for call in message.tool_calls if isinstance(message, AIMessage) else ():
            if found := results.get(call["id"] or ""):
                yield call, found


def unmatched(messages: Sequence[AnyMessage]) -> Iterator[str]:
    """Calls without exactly one result, and results without a call."""
    calls = Counter(id for m in messages if isinstance(m, AIMessage) for id in call_ids(m))
    results = Counter(m.tool_call_id for m in messages if isinstance(m, ToolMessage))
    if calls != results:
        yield f"calls {dict(calls - results)} have no result, results {dict(results - calls)} no call"


def _answers(case: Case, values: Any, going_on: bool) -> Iterator[str]:
    if values.get("answer") != answer("next", case.number):
        yield f"the next turn answers {values.get('answer')!r}"
    if going_on:
        yield "the thread is not at rest"


def _customer_messages(case: Case, messages: Sequence[AnyMessage], accepted: bool) -> Iterator[str]:
    said = Counter(m.id for m in messages if isinstance(m, HumanMessage))
    wanted = [case.message_id(2)]
    if accepted or case.taken_up == "resume":
        wanted.append(case.message_id(1))
    for message_id in wanted:
        if said[message_id] != 1:
            yield f"customer message {message_id} stands {said[message_id]} times in the thread"


def _remembered(case: Case, turns: dict[str, int], memories: Sequence[str], accepted: bool) -> Iterator[str]:
    wanted = [2, 1] if accepted or case.taken_up == "resume" else [2]
    for turn in wanted:
        times = turns.get(f"turn-{case.message_id(turn)}", 0)
        if times != 1:
            yield f"turn {turn} was remembered {times} times"
    if case.kind == "memory" and 1 in wanted and memories.count(f"allergy_{case.number}") != 1:
        yield f"what was said is kept as {memories}"
