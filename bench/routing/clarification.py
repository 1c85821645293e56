"""What asking the customer saves where the router model is wrong: simulated turns."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from bench.routing.utterances import NAMES, Routed
from graph.shop.business import SHOP
from nodes.ask_router import weigh
from nodes.routing import lead_by_priority

CLARIFY_BELOW = 0.6
SEEDS = 20


@dataclass
class Flow:
    """Counts of simulated turns."""

    turns: int = 0
    asked: int = 0
    wrong: int = 0


def simulate(routed: Sequence[Routed], *, classifier: bool, decides: bool, clarify: bool, seed: int) -> Flow:
    """Turns with a router model that is unsure in 10 % (half of them wrong) and surely wrong in 5 %.

    A customer who is asked picks the right option where it is offered, else says the wish again, which the router
    then answers by the same odds; a second question never follows.
    """
    chance = random.Random(seed)
    flow = Flow()
    for one in routed:
        flow.turns += 1
        if classifier and decides and one.local.decided:
            flow.wrong += not one.right_alone
            continue
        name, asks, offered = _turn(one, classifier, chance)
        if asks and clarify:
            flow.asked += 1
            if one.utterance.acceptable & set(offered[:3]):
                continue
            name, _, _ = _turn(one, classifier, chance)
        flow.wrong += name not in one.utterance.acceptable
    return flow


def _turn(one: Routed, classifier: bool, chance: random.Random) -> tuple[str, bool, Sequence[str]]:
    right = one.utterance.label
    wrong = chance.choice([name for name in NAMES if name not in one.utterance.acceptable])
    draw = chance.random()
    if draw < 0.05:
        stated = [(wrong, 0.4), (right, 0.3)]
    elif draw < 0.10:
        stated = [(right, 0.4), (wrong, 0.3)]
    elif draw < 0.15:
        stated = [(wrong, 0.95)]
    else:
        stated = [(right, 0.95)]
    intents, likely = weigh(stated, one.local if classifier else None)
    asks = max(intent["confidence"] for intent in intents) < CLARIFY_BELOW
    return lead_by_priority(intents, SHOP)[0]["name"], asks, likely


def measure_clarification(routed: Sequence[Routed]) -> bool:
    """Print wrong flows with and without clarification; whether the floors are met."""
    print("\nclarification: wrong flows and questions, in % of turns (mean of seeds)")
    met = True
    for title, classifier, decides in (
        ("classifier decides what it is sure of", True, True),
        ("classifier only tempers", True, False),
        ("classifier off", False, False),
    ):
        on, off = (
            [
                simulate(routed, classifier=classifier, decides=decides, clarify=clarify, seed=seed)
                for seed in range(SEEDS)
            ]
            for clarify in (True, False)
        )
        turns = sum(flow.turns for flow in on)
        wrong, without = sum(flow.wrong for flow in on), sum(flow.wrong for flow in off)
        asked = sum(flow.asked for flow in on) / turns
        print(
            f"  {title:<38} off {100 * without / turns:5.2f}  on {100 * wrong / turns:5.2f}  "
            f"ratio {wrong / without:.2f}  asked {100 * asked:5.2f}"
        )
        if classifier:
            met = met and wrong / without <= 0.4 and asked <= 0.15
    return met
