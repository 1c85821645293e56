"""Which key facts of a session are kept when there are more than fit: vital ones first, then those confirmed last."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import structlog

from memory.tokens import count

log = structlog.get_logger(__name__)

MOST_TOKENS = 1_200
"""Of all key facts of a session together."""
_VITAL = re.compile(
    r"过敏|不耐受|禁忌|忌口|疾病|怀孕|用药|决定|同意|确认|选择了|约定|拒绝|不要"
    r"|allerg|intoleran|medic|pregnan|diabet|decision|decid|agree|confirm|chose|refus|must not|never",
    re.IGNORECASE,
)


def is_vital(name: str, value: str) -> bool:
    """Whether leaving the fact out could harm somebody, or undo what was agreed."""
    return _VITAL.search(f"{name} {value}") is not None


def bounded(facts: Mapping[str, str], order: Sequence[str] = (), tokens: int = MOST_TOKENS) -> dict[str, str]:
    """The facts that fit into so many tokens, in their order; what is left out is logged, by name.

    `order` names them, the one confirmed last at the end; those that it does not name count as older, the longer the
    older. Vital facts go in before all others.
    """
    rank = {name: place for place, name in enumerate(order, start=1)}
    wanted = sorted(
        facts,
        key=lambda name: (is_vital(name, facts[name]), rank.get(name, 0), -len(facts[name])),
        reverse=True,
    )
    kept: set[str] = set()
    for name in wanted:
        size = count(f"- {name}: {facts[name]}")
        if size <= tokens:
            tokens -= size
            kept.add(name)
    if left_out := [name for name in wanted if name not in kept]:
        vital = [name for name in left_out if is_vital(name, facts[name])]
        log.warning("key facts left out for want of room", names=left_out[:20], vital=vital[:20])
    return {name: value for name, value in facts.items() if name in kept}


def merged_order(order: Sequence[str], confirmed: Sequence[str], kept: Mapping[str, str]) -> list[str]:
    """The order after these were confirmed, of what is kept."""
    fresh = set(confirmed)
    return [name for name in [*(n for n in order if n not in fresh), *confirmed] if name in kept]
