"""What the next model call may see, decided by budgets. Pure: messages and parts in, a small plan out.

The order never changes (system, summary and key facts, history, background, this turn), and what was sent once
stays as it was until a deliberate point: history starts later only when its budget is exceeded, and then jumps
to half of it, so that the provider's prompt cache keeps hitting in between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from nodes.context_groups import TurnGroup, turn_groups
from nodes.state import ContextPlan

HISTORY_SHARE = 0.45
"""Of what is left after instructions and memory: the most that earlier turns take."""
HISTORY_AFTER_CUT = 0.5
"""Of that: what stays when the beginning of the history is cut."""
STUB_TOKENS = 60
"""What is left of an early result of this turn when a long chain needs the room."""
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
    messages: Sequence[AnyMessage]
    folded_until: str | None = None
    """Id of the newest message that the summary covers."""
    history_start: str | None = None
    """Where history began at the last call."""
    shortened: Mapping[str, int] = field(default_factory=dict)
    """What was shortened at an earlier call of this turn."""


def message_text(message: AnyMessage) -> str:
    """All of a message that costs tokens, as text."""
    text = str(message.text)
    if isinstance(message, AIMessage):
        calls = [*message.tool_calls, *message.invalid_tool_calls]
        text += "".join(f"{call['name']}{call['args']}" for call in calls)
    return text


class _Sizes:
    """Token sizes of messages, counted once each."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self._known: dict[int, int] = {}

    def of(self, message: AnyMessage) -> int:
        key = id(message)
        if key not in self._known:
            self._known[key] = self._count(message_text(message)) + OVERHEAD
        return self._known[key]

    def all(self, messages: Sequence[AnyMessage]) -> int:
        return sum(self.of(message) for message in messages)


def plan_context(parts: Parts, *, budget: int, count: Count, tight: bool = False) -> ContextPlan:
    """Choose what is sent so that it fits `budget` tokens (the answer's room already taken off).

    The latest turn always stays whole in structure: its oldest results are shortened first, then the customer's
    message if that alone is too large. Older turns stay or go whole.
    """
    sizes = _Sizes(count)
    cut: list[str] = []
    groups = turn_groups(parts.messages)
    latest, earlier = (groups[-1], groups[:-1]) if groups else (TurnGroup(()), [])
    instructions = count(parts.system) + OVERHEAD
    schemas = count(parts.schemas)
    memory = count(parts.summary) + count(parts.background) + FRAME
    room = max(budget - instructions - schemas - memory, STUB_TOKENS)
    limit = int(room * (HISTORY_SHARE / 2 if tight else HISTORY_SHARE))
    kept = _keep_history(earlier, parts, sizes, limit, cut)
    history = sum(sizes.all(group.messages) for group in kept)
    shortened = _shorten_turn(latest, parts.shortened, sizes, room - history, cut)
    turn = sum(min(sizes.of(m), shortened.get(m.id or "", sizes.of(m))) for m in latest.messages)
    results = sum(sizes.of(m) for g in [*kept, latest] for m in g.messages if isinstance(m, ToolMessage))
    results = min(results, history + turn)
    start = kept[0].first_id if kept else latest.first_id
    return {
        "first_message_id": start,
        "shortened": shortened,
        "background": parts.background,
        "summary": parts.summary,
        "tools": list(parts.tools),
        "tokens": {
            "instructions": instructions,
            "memory": memory,
            "tools": schemas + results,
            "history": history + turn - results,
        },
        "cut": cut,
        "earlier": {"tokens": history, "limit": limit},
        "budget": budget,
        "tight": tight,
        "notice": "",
    }


def _keep_history(
    earlier: Sequence[TurnGroup], parts: Parts, sizes: _Sizes, limit: int, cut: list[str]
) -> list[TurnGroup]:
    """The turns that stay: those after the summary and after the last cut, as many as fit."""
    kept = _after(list(earlier), parts.folded_until, inclusive=False)
    folded = len(earlier) - len(kept)
    if folded:
        cut.append(f"{folded} earlier turns stand in the summary")
    kept = _after(kept, parts.history_start, inclusive=True)
    total = sum(sizes.all(group.messages) for group in kept)
    if total > limit:
        while kept and total > limit * HISTORY_AFTER_CUT:
            total -= sizes.all(kept.pop(0).messages)
    if left_out := len(earlier) - folded - len(kept):
        cut.append(f"{left_out} earlier turns left out for want of room")
    return kept


def _after(groups: list[TurnGroup], id: str | None, *, inclusive: bool) -> list[TurnGroup]:
    """The groups from the one that holds the message on; all of them where none does."""
    if id is None:
        return groups
    for index, group in enumerate(groups):
        if any(message.id == id for message in group.messages):
            return groups[index if inclusive else index + 1 :]
    return groups


def _shorten_turn(
    latest: TurnGroup, before: Mapping[str, int], sizes: _Sizes, room: int, cut: list[str]
) -> dict[str, int]:
    """Which messages of the running turn are shortened, and to how many tokens, overhead included."""
    shortened = {m.id: before[m.id] for m in latest.messages if m.id and m.id in before}

    def total() -> int:
        return sum(min(sizes.of(m), shortened.get(m.id or "", sizes.of(m))) for m in latest.messages)

    if total() <= room:
        return shortened
    results = [m for m in latest.messages if isinstance(m, ToolMessage)]
    for result in results[:-1]:
        if total() <= room * (1 - HISTORY_AFTER_CUT / 2):
            break
        if result.id and sizes.of(result) > STUB_TOKENS:
            shortened[result.id] = STUB_TOKENS
    stubs = sum(1 for m in results if m.id in shortened)
    if stubs:
        cut.append(f"{stubs} earlier results of this turn shortened")
    if total() > room:
        level = _level([sizes.of(m) for m in latest.messages], int(room * (1 - HISTORY_AFTER_CUT / 2)))
        for message in latest.messages:
            if message.id and sizes.of(message) > level:
                shortened[message.id] = min(level, shortened.get(message.id, level))
                cut.append(f"a message of {sizes.of(message)} tokens shortened to {shortened[message.id]}")
    return shortened


def _level(sizes: Sequence[int], room: int) -> int:
    """The size down to which the largest are cut so that all fit: what is small stays whole."""
    left = room
    for rank, size in enumerate(ordered := sorted(sizes)):
        share = left // (len(ordered) - rank)
        if size > share:
            return max(share, STUB_TOKENS)
        left -= size
    return max([*ordered, STUB_TOKENS])
