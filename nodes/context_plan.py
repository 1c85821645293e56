"""What the next model call may see, decided by budgets. Pure: messages and parts in, a small plan out.

The order never changes (system, summary and key facts, history, background, this turn), and what was sent once
stays as it was until a deliberate point: history starts later only when it leaves too little room, and then by so
much that the provider's prompt cache keeps hitting for a while.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from langchain_core.messages import AnyMessage

from nodes.context_groups import TurnGroup, block_of, number_until, since
from nodes.shortening import STUB_TOKENS, shorten_turn
from nodes.state import ContextPlan

MOST_HISTORY = 0.85
"""Of what is left after instructions and memory: the most that earlier turns take."""
LEAST_HISTORY = 0.35
"""Of the same: what the running turn leaves to them before it is shortened itself."""
HISTORY_AFTER_CUT = 0.5
"""Of what they may take: what stays when their beginning is cut."""
OVERHEAD = 4
"""Tokens that the protocol adds to each message."""
FRAME = 30
"""Tokens of the marks around the customer's message and the blocks before it."""

Count = Callable[[str], int]


@dataclass(frozen=True)
class Parts:
    """What the context is made of."""

    system: str
    schemas: str
    """JSON of the tools on offer, as sent."""
    tools: Sequence[str]
    summary: str
    background: str
    turns: Sequence[TurnGroup]
    """The whole conversation."""
    folded_until: str | None = None
    """Id of the newest message that the summary covers."""
    history_start: str | None = None
    """Where history began at the last call."""
    shortened: Mapping[str, int] = field(default_factory=dict)
    """What was shortened at an earlier call, with the tokens that are left of it."""


def message_text(message: AnyMessage) -> str:
    """All of a message that costs tokens, as text."""
    text = message.content if isinstance(message.content, str) else str(message.text)
    if message.type == "ai" and (message.tool_calls or message.invalid_tool_calls):
        calls = [*message.tool_calls, *message.invalid_tool_calls]
        text += "".join(f"{call['name']}{call['args']}" for call in calls)
    return text


@dataclass(frozen=True)
class TurnSize:
    """Tokens of one turn."""

    messages: int
    results: int
    """Of the messages, those that are results of tools."""
    block: int
    """Of the background that was sent with it."""

    @property
    def whole(self) -> int:
        return self.messages + self.block


class Sizes:
    """Token sizes of messages and turns, counted once each; what was shortened before counts as such."""

    def __init__(self, count: Count, shortened: Mapping[str, int]) -> None:
        self._count = count
        self._shortened = shortened
        self._known: dict[int, int] = {}
        self._turns: dict[int, TurnSize] = {}

    def of(self, message: AnyMessage) -> int:
        known = self._known.get(id(message))
        if known is None:
            whole = self._count(message_text(message)) + OVERHEAD
            known = self._known[id(message)] = min(whole, self._shortened.get(message.id or "", whole))
        return known

    def turn(self, group: TurnGroup) -> TurnSize:
        known = self._turns.get(id(group))
        if known is None:
            block = block_of(group.messages[0]) if group.messages else ""
            known = self._turns[id(group)] = TurnSize(
                messages=sum(self.of(message) for message in group.messages),
                results=sum(self.of(message) for message in group.messages if message.type == "tool"),
                block=self._count(block) + FRAME if block else 0,
            )
        return known

    def turns(self, groups: Sequence[TurnGroup]) -> int:
        """Of turns with their backgrounds."""
        return sum(self.turn(group).whole for group in groups)


def plan_context(
    parts: Parts, *, budget: int, count: Count, tight: bool = False, sizes: Sizes | None = None
) -> ContextPlan:
    """Choose what is sent so that it fits `budget` tokens (the answer's room already taken off).

    The latest turn always stays whole in structure: its oldest results are shortened first, then the customer's
    message if that alone is too large. Older turns stay or go whole. `sizes` are those of an earlier plan of the same
    messages.
    """
    sizes = sizes or Sizes(count, parts.shortened)
    cut: list[str] = []
    *earlier, latest = parts.turns or [TurnGroup(())]
    instructions = count(parts.system) + OVERHEAD
    schemas = count(parts.schemas)
    frames = 2 * FRAME if parts.summary else FRAME
    memory = count(parts.summary) + count(parts.background) + frames
    room = max(budget - instructions - schemas - memory, STUB_TOKENS)
    limit = _history_limit(room, sizes.turn(latest).messages, tight)
    kept = _keep_history(earlier, latest, parts, sizes, limit, cut)
    history = sizes.turns(kept)
    shortened, turn = shorten_turn(latest.messages, sizes.of, room - history, cut)
    blocks = sum(sizes.turn(group).block for group in kept)
    results = sum(sizes.turn(group).results for group in [*kept, latest])
    results = min(results, history - blocks + turn)
    shortened = {**parts.shortened, **shortened}
    sent = {m.id for group in [*kept, latest] for m in group.messages} if shortened else set()
    return {
        "first_message_id": kept[0].first_id if kept else latest.first_id if latest.messages else None,
        "shortened": {id: n for id, n in shortened.items() if id in sent},
        "background": parts.background,
        "summary": parts.summary,
        "tools": list(parts.tools),
        "tokens": {
            "instructions": instructions,
            "memory": memory + blocks,
            "tools": schemas + results,
            "history": history - blocks + turn - results,
        },
        "cut": cut,
        "earlier": {"tokens": history, "limit": int(room * MOST_HISTORY), "next": history + turn},
        "budget": budget,
        "tight": tight,
        "notice": "",
    }


def _history_limit(room: int, turn: int, tight: bool) -> int:
    """What earlier turns may take: what the running turn leaves, within bounds."""
    limit = min(max(room - turn, room * LEAST_HISTORY), room * MOST_HISTORY)
    return int(limit / 2 if tight else limit)


def _keep_history(
    earlier: Sequence[TurnGroup],
    latest: TurnGroup,
    parts: Parts,
    sizes: Sizes,
    limit: int,
    cut: list[str],
) -> list[TurnGroup]:
    """The turns that stay: those after the summary and after the last cut, as many as fit."""
    folded = number_until(earlier, parts.folded_until)
    if folded:
        cut.append(f"{folded} earlier turns stand in the summary")
    kept = since([*earlier[folded:], latest], parts.history_start)[:-1]
    total = sizes.turns(kept)
    if total > limit:
        while kept and total > limit * HISTORY_AFTER_CUT:
            total -= sizes.turns([kept.pop(0)])
    if left_out := len(earlier) - folded - len(kept):
        cut.append(f"{left_out} earlier turns left out for want of room")
    return kept
