"""How intents become a route: who leads, and which tools are offered. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nodes.business import Business
from nodes.state import Route, RoutedIntent


def lead_by_priority(intents: Sequence[RoutedIntent], business: Business) -> list[RoutedIntent]:
    """The business's priority picks the leading intent; the others keep the order of their confidence."""
    ranked = sorted(intents, key=lambda intent: -intent["confidence"])
    if not ranked:
        return []
    leader = max(ranked, key=lambda intent: business.intent(intent["name"]).priority)
    return [leader, *(intent for intent in ranked if intent is not leader)]


def offered_tools(
    intents: Sequence[str],
    business: Business,
    available: Sequence[str],
    limit: int,
    beside: Callable[[str], Sequence[str]] = lambda _: (),
) -> list[str]:
    """Tools of the intents in turn (each intent's first, then each one's second …), `limit` at most.

    `beside` names what an intent offers after the tools that it lists (tools of servers).

    >>> # with order: [order_query, order_update] and logistics: [logistics_query]
    >>> # offered_tools(["order", "logistics"], …) == ["order_query", "logistics_query", "order_update"]
    """
    lists = [[*business.intent(name).tools, *beside(name)] for name in intents]
    offered: list[str] = []
    for rank in range(max((len(tools) for tools in lists), default=0)):
        for tools in lists:
            if rank < len(tools) and tools[rank] in available and tools[rank] not in offered:
                offered.append(tools[rank])
    return offered[:limit]


def make_route(
    intents: Sequence[RoutedIntent],
    business: Business,
    available: Sequence[str],
    limit: int,
    why: str,
    *,
    beside: Callable[[str], Sequence[str]] = lambda _: (),
    likely: Sequence[str] = (),
    ask: bool = False,
    guess: bool = False,
) -> Route:
    """A route of intents that are already in order, leading one first."""
    names = [intent["name"] for intent in intents]
    return {
        "intents": list(intents),
        "tools": offered_tools(names, business, available, limit, beside),
        "review": any(business.intent(name).review for name in names),
        "why": why,
        "likely": list(likely),
        "ask": ask,
        "guess": guess,
    }
