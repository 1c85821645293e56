"""Which recalled memories a turn is shown."""

from __future__ import annotations

import pytest

from graph.shop.business import SHOP
from memory.recall import DEFAULT_FLOOR, IN_DOMAIN_FLOOR
from nodes.background import MOST_MEMORIES, fitting
from nodes.state import RecalledMemory, Route

BETWEEN = (DEFAULT_FLOOR + IN_DOMAIN_FLOOR) / 2


def route(*intents: str) -> Route:
    return {
        "intents": [{"name": name, "confidence": 0.9, "source": "model"} for name in intents],
        "tools": [],
        "review": False,
        "why": "",
        "likely": [],
        "ask": False,
        "guess": False,
    }


def memory(*domains: str, fit: float = 0.9) -> RecalledMemory:
    return {"key": "k", "content": "c", "score": 1.0, "fit": fit, "domains": list(domains)}


@pytest.mark.parametrize(
    ("remembered", "intents", "shown"),
    [
        (memory("logistics"), ("logistics",), True),
        (memory("logistics"), ("consult",), False),
        (memory("logistics"), ("consult", "order"), True),
        (memory("general"), ("consult",), True),
        (memory(), ("consult",), True),
        # put in other words, or in another language, but about what the turn is about
        (memory("logistics", fit=BETWEEN), ("logistics",), True),
        (memory("logistics", fit=BETWEEN), ("consult",), False),
        (memory("general", fit=BETWEEN), ("logistics",), False),
        (memory(fit=BETWEEN), ("logistics",), False),
        # small talk is no domain of its own
        (memory("general", fit=BETWEEN), ("chat",), False),
        (memory("general", "logistics", fit=BETWEEN), ("chat",), False),
    ],
)
def test_a_memory_is_shown_where_it_concerns_the_turn(
    remembered: RecalledMemory, intents: tuple[str, ...], shown: bool
) -> None:
    assert fitting([remembered], route(*intents), SHOP) == ([remembered] if shown else [])


def test_no_more_than_a_few_are_shown_the_best_first() -> None:
    many = [{**memory("general"), "key": str(number)} for number in range(9)]
    assert [m["key"] for m in fitting(many, route("order"), SHOP)] == [str(n) for n in range(MOST_MEMORIES)]
