"""Assemble what the model sees next: one plan, in one stable order, within the budget (C1, C2)."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from langchain_core.messages import AnyMessage, HumanMessage

from memory.tokens import count
from nodes.background import background_block, fitting, summary_block
from nodes.context_groups import since, turn_groups, with_block
from nodes.context_plan import Count, Parts, Sizes, plan_context
from nodes.execute_tools import settled_late
from nodes.limits import decided_notice, limit_reached, notice
from nodes.prompting import fill
from nodes.run import Run
from nodes.state import AgentState, ContextPlan, SentContext
from nodes.texts import say

TIGHT_SHARE = 0.6
"""Of the budget, once the provider has reported an overflow."""


async def assemble_context(state: AgentState, run: Run) -> AgentState:
    """Plan the next model call; a turn that has reached a limit gets no tools and a last word about it."""
    route = state["route"]
    if route is None:
        return {}
    if route["ask"]:
        return {"recalled": fitting(state["recalled"], route, run.business)}
    stopped = state.get("stopped_because") or limit_reached(state["turn"], run.settings, time.time())
    recalled = state["recalled"] if state.get("context") else fitting(state["recalled"], route, run.business)
    state = {**state, "recalled": recalled}
    tools = [] if stopped else [*route["tools"], *run.services.engine.registry.engine_names]
    plan = _Planner.of(state, run, tools).plan()
    if stopped:
        plan["notice"] = notice(stopped)
    elif decided := settled_late(state["messages"]):
        plan["notice"] = decided_notice(decided)
    session = state.get("session")
    update: AgentState = {
        "context": plan,
        "recalled": recalled,
        "sent": {
            "start": plan["first_message_id"],
            "summary": plan["summary"],
            "folded_until": session["folded_until"] if session else None,
            "shortened": plan["shortened"],
        },
        "stopped_because": stopped,
    }
    if kept := _kept_block(state, plan):
        update["messages"] = kept
    return update


def system_text(run: Run) -> str:
    """The system message: the engine's rules and the business's, the same for every turn."""
    business = run.business
    return fill(run.prompt("system"), business=business.name, instructions=business.instructions.strip())


@dataclass(frozen=True)
class _Planner:
    """Plans that repeat what was sent before, and anew where history begins elsewhere than it did."""

    state: AgentState
    run: Run
    parts: Parts
    """Without the two blocks."""
    count: Count
    sizes: Sizes

    @classmethod
    def of(cls, state: AgentState, run: Run, tools: list[str]) -> _Planner:
        sent, session = state.get("sent"), state.get("session")
        schemas = run.services.engine.registry.schemas(tools) if tools else []
        parts = Parts(
            system=system_text(run),
            schemas=json.dumps(schemas, ensure_ascii=False) if tools else "",
            tools=tools,
            summary="",
            background="",
            turns=turn_groups(state["messages"]),
            folded_until=session["folded_until"] if session else None,
            history_start=sent["start"] if sent else None,
            shortened=sent["shortened"] if sent else {},
        )
        model = run.settings.model_name("chat")

        def count_tokens(text: str) -> int:
            return count(text, model)

        return cls(state, run, parts, count_tokens, Sizes(count_tokens, parts.shortened))

    def plan(self) -> ContextPlan:
        before = self.state.get("context")
        if before is not None:
            plan = self._with(before["summary"], before["background"])
            if plan["first_message_id"] == before["first_message_id"]:
                return plan
        summary = summary_block(self.state.get("session"))
        plan = self._with(summary, self._background(""))
        if before is None and (sent := self._still_sent(plan)):
            summary = sent["summary"]
        start = plan["first_message_id"]
        known = [group.block for group in since(self.parts.turns, start)[:-1]]
        planner = replace(self, parts=replace(self.parts, history_start=start))
        return planner._with(summary, self._background("\n".join([summary, *known])))

    def _still_sent(self, plan: ContextPlan) -> SentContext | None:
        """What was sent last, if this plan begins as it did."""
        sent = self.state.get("sent")
        same = sent and (sent["start"], sent["folded_until"]) == (
            plan["first_message_id"],
            self.parts.folded_until,
        )
        return sent if same else None

    def _with(self, summary: str, background: str) -> ContextPlan:
        settings, before = self.run.settings, self.state.get("context")
        tight = bool(before and before["tight"])
        budget = settings.steward_context_tokens - settings.steward_answer_tokens
        return plan_context(
            replace(self.parts, summary=summary, background=background),
            budget=int(budget * TIGHT_SHARE) if tight else budget,
            count=self.count,
            tight=tight,
            sizes=self.sizes,
        )

    def _background(self, known: str) -> str:
        """The turn's block, less what stands in `known`, the blocks that are sent before it."""
        state, run = self.state, self.run
        route, locale = state["route"], state["turn"]["locale"]
        extra = []
        if route and route["guess"]:
            label = run.business.intent(route["intents"][0]["name"]).label_in(locale)
            guess = say("best_guess", locale, label=label)
            extra.append(f"It is unsure what is meant. Begin with: {guess}")
        session, now = state.get("session"), _local_now(state, run)
        return background_block(run.business, route, state["recalled"], session, now, extra, known=known)


def _kept_block(state: AgentState, plan: ContextPlan) -> list[AnyMessage]:
    """The customer's message with the block that goes before it: history repeats both to the letter."""
    for message in reversed(state["messages"]):
        if isinstance(message, HumanMessage):
            kept = with_block(message, plan["background"])
            return [] if kept == message else [kept]
    return []


def _local_now(state: AgentState, run: Run) -> datetime:
    return run.now().astimezone(ZoneInfo(state["turn"]["timezone"]))
