"""What a model call cost, noted in the turn's state and in the token ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nodes.settings import Role
from nodes.state import AgentState

if TYPE_CHECKING:
    from nodes.endpoint import ModelReply

CLASSES = ("instructions", "memory", "tools", "history", "output")


@dataclass(frozen=True)
class Booking:
    """One model call of a node: its prompt's share by class, and the figures that the endpoint gave."""

    node: str
    role: Role
    reply: ModelReply
    estimate: Mapping[str, float]
    """Tokens, or parts, by class; only the proportions count, the total is the endpoint's."""

    def by_class(self) -> dict[str, int]:
        """The call's tokens in the ledger's classes."""
        total = sum(self.estimate.values()) or 1
        prompt = self.reply.usage.prompt_tokens
        shares = {name: round(prompt * part / total) for name, part in self.estimate.items()}
        return {**shares, "output": self.reply.usage.completion_tokens}

    def onto(self, state: AgentState) -> AgentState:
        """The update that books the call in the turn's own figures."""
        usage = state["usage"]
        classes = dict(usage["by_class"])
        for name, tokens in self.by_class().items():
            classes[name] = classes.get(name, 0) + tokens
        spent = self.reply.usage.prompt_tokens + self.reply.usage.completion_tokens
        roles = {**usage["by_role"], self.role: usage["by_role"].get(self.role, 0) + spent}
        turn = {**state["turn"], "tokens": state["turn"]["tokens"] + spent}
        return {"usage": {"by_class": classes, "by_role": roles}, "turn": turn}  # type: ignore[typeddict-item]
