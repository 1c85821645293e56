"""What the reviewer, and whoever corrects a draft in its place, is shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage

from memory.tokens import count, cut
from nodes.checks import Fault, Sources
from nodes.prompting import fill, load_prompt
from nodes.review_sources import listed_intents, tool_results
from nodes.run import Run
from nodes.settings import Role
from nodes.state import AgentState

_MARK = re.compile(
    r"</?(?:customer|results|memory|draft|findings|rules|objection|time)\b[^>]*>", re.IGNORECASE
)
_MESSAGES = 4
"""Of the customer's, newest last: enough to see what the draft answers."""


@dataclass(frozen=True)
class ReviewPrompt:
    messages: list[AnyMessage]
    tokens: dict[str, float]
    """Estimate by class, for the ledger."""


def reviewer_prompt(
    state: AgentState, run: Run, sources: Sources, faults: Sequence[Fault], objection: str
) -> ReviewPrompt:
    """For one round; `objection` says why the last revision was not taken."""
    checklist = [point for intent in listed_intents(state, run) for point in intent.checklist]
    points = "\n".join(f"- {point}" for point in dict.fromkeys(checklist)) or "- None."
    system = fill(run.prompt("reviewer"), business=run.business.name, checklist=points)
    closing = [_block("findings", "\n".join(f"- {fault.text}" for fault in faults) or "None.")]
    if objection:
        closing.append(_block("objection", f"Your last revision was not taken. {objection}"))
    return _prompt("reviewer", system, closing, state, run, sources)


def correction_prompt(state: AgentState, run: Run, sources: Sources, faults: Sequence[Fault]) -> ReviewPrompt:
    """For the one call that corrects a draft where no reviewer could."""
    system = fill(load_prompt("correction"), business=run.business.name)
    closing = [_block("findings", "\n".join(f"- {fault.text}" for fault in faults))]
    return _prompt("chat", system, closing, state, run, sources)


def _prompt(
    role: Role, system: str, closing: Sequence[str], state: AgentState, run: Run, sources: Sources
) -> ReviewPrompt:
    model = run.settings.model_name(role)
    draft = state["draft"]
    assert draft is not None, "the edge to here asks for a draft"
    room = run.settings.steward_context_tokens // 4
    rules = cut("\n\n".join(sources.instructions), room, model)
    known = cut("\n".join(f"- {text}" for text in sources.memories), room, model)
    results = _newest(state, room * 2, model)
    said = cut("\n\n".join(sources.user_texts[-_MESSAGES:]), room, model)
    local = sources.now.astimezone(sources.zone)
    blocks = [
        _block("time", f"{local:%Y-%m-%d %H:%M %A}, {sources.timezone}"),
        _block("rules", rules),
        _block("memory", known or "None."),
        _block("results", results or "None."),
        _block("customer", said),
        _block("draft", draft.text),
        *closing,
    ]
    tokens = {
        "instructions": count(system, model) + count(rules, model) + sum(count(c, model) for c in closing),
        "memory": count(known, model),
        "tools": count(results, model),
        "history": count(said, model) + count(draft.text, model),
    }
    messages: list[AnyMessage] = [SystemMessage(system), HumanMessage("\n".join(blocks))]
    return ReviewPrompt(messages, {name: float(number) for name, number in tokens.items()})


def _newest(state: AgentState, room: int, model: str) -> str:
    """Tool results, documents among them, in the order they came; the oldest are left out where room is short."""
    kept: list[str] = []
    for result in reversed(tool_results(state)):
        line = f"{result.tool}: {result.envelope}"
        room -= count(line, model)
        if room < 0 and kept:
            break
        kept.append(line)
    return "\n".join(reversed(kept))


def _block(name: str, text: str) -> str:
    """Data between marks that it cannot close itself."""
    return f"<{name}>\n{_MARK.sub('', text).strip()}\n</{name}>"
