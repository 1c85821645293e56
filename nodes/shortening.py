"""The running turn made to fit where a long chain of calls, or one huge message, needs more room than there is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from langchain_core.messages import AnyMessage, ToolMessage

STUB_TOKENS = 60
"""What is left of an early result when a long chain needs the room."""
SLACK = 0.75
"""Of the room, what the turn takes after it was shortened: the next calls then find room without another cut."""


def shorten_turn(
    messages: Sequence[AnyMessage], size: Callable[[AnyMessage], int], room: int, cut: list[str]
) -> tuple[dict[str, int], int]:
    """Which messages are shortened, and to how many tokens, overhead included; and the tokens of the turn then.

    The oldest results go first, the newest never; then the largest messages are cut to a common size.
    """
    shortened: dict[str, int] = {}

    def total() -> int:
        return sum(shortened.get(m.id or "", size(m)) for m in messages)

    if total() <= room:
        return shortened, total()
    for result in [m for m in messages if isinstance(m, ToolMessage)][:-1]:
        if total() <= room * SLACK:
            break
        if result.id and size(result) > STUB_TOKENS:
            shortened[result.id] = STUB_TOKENS
    if shortened:
        cut.append(f"{len(shortened)} earlier results of this turn shortened")
    if total() > room:
        level = _level([size(m) for m in messages], int(room * SLACK))
        for message in messages:
            if message.id and size(message) > level:
                shortened[message.id] = min(level, shortened.get(message.id, level))
                cut.append(f"a message of {size(message)} tokens shortened to {shortened[message.id]}")
    return shortened, total()


def _level(sizes: Sequence[int], room: int) -> int:
    """The size down to which the largest are cut so that all fit: what is small stays whole."""
    left = room
    for rank, size in enumerate(ordered := sorted(sizes)):
        share = left // (len(ordered) - rank)
        if size > share:
            return max(share, STUB_TOKENS)
        left -= size
    return max([*ordered, STUB_TOKENS])
