"""Assemble what the model sees next: one plan, in one stable order, within the budget (C1, C2)."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from memory.tokens import count
from nodes.background import background_block, fitting, summary_block
from nodes.context_plan import Parts, plan_context
from nodes.execute_tools import settled_late
from nodes.limits import decided_notice, limit_reached, notice
from nodes.prompting import load_prompt
from nodes.run import Run
from nodes.state import AgentState, RecalledMemory
from nodes.texts import say

TIGHT_SHARE = 0.6
"""Of the budget, once the provider has reported an overflow."""


async def assemble_context(state: AgentState, run: Run) -> AgentState:
    """Plan the next model call; a turn that has reached a limit gets no tools and a last word about it."""
    route = state["route"]
    if route is None or route["ask"]:
        return {}
    stopped = state.get("stopped_because") or limit_reached(state["turn"], run.settings, time.time())
    before = state.get("context")
    recalled = state["recalled"] if before else fitting(state["recalled"], route, run.business)
    tight = bool(before and before["tight"])
    tools = [] if stopped else [*route["tools"], *run.services.engine.registry.engine_names]
    parts = Parts(
        system=system_text(run),
        schemas=json.dumps(run.services.engine.registry.schemas(tools), ensure_ascii=False) if tools else "",
        tools=tools,
        summary=before["summary"] if before else summary_block(state.get("session")),
        background=before["background"] if before else _background(state, recalled, run),
        messages=state["messages"],
        folded_until=(session := state.get("session")) and session["folded_until"],
        history_start=state.get("history_start"),
        shortened=before["shortened"] if before else {},
    )
    budget = run.settings.steward_context_tokens - run.settings.steward_answer_tokens
    model = run.settings.model_name("chat")
    plan = plan_context(
        parts,
        budget=int(budget * TIGHT_SHARE) if tight else budget,
        count=lambda text: count(text, model),
        tight=tight,
    )
    if stopped:
        plan["notice"] = notice(stopped)
    elif decided := settled_late(state["messages"]):
        plan["notice"] = decided_notice(decided)
    return {
        "context": plan,
        "recalled": recalled,
        "history_start": plan["first_message_id"],
        "stopped_because": stopped,
    }


def system_text(run: Run) -> str:
    """The system message: the engine's rules and the business's, the same for every turn."""
    business = run.business
    return load_prompt("system").format(business=business.name, instructions=business.instructions.strip())


def _background(state: AgentState, recalled: Sequence[RecalledMemory], run: Run) -> str:
    route = state["route"]
    extra = []
    if route and route["guess"]:
        label = run.business.intent(route["intents"][0]["name"]).label_in(state["turn"]["locale"])
        extra.append(
            "It is unsure what is meant. Begin with: "
            + say("best_guess", state["turn"]["locale"], label=label)
        )
    return background_block(
        run.business, route, recalled, state.get("session"), _local_now(state, run), extra
    )


def _local_now(state: AgentState, run: Run) -> datetime:
    return run.now().astimezone(ZoneInfo(state["turn"]["timezone"]))
