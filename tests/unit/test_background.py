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


def constraint(kind: str, *domains: str, fit: float = 0.0) -> RecalledMemory:
    return {**memory(*domains, fit=fit), "constrains": kind}


@pytest.mark.parametrize(
    ("remembered", "intents", "shown"),
    [
        # an allergy matters to any recommendation, and to nothing else that does not ask for it
        (constraint("health", "general"), ("consult",), True),
        (constraint("health"), ("consult", "logistics"), True),
        (constraint("health", "order"), ("consult",), True),
        (constraint("health", "general"), ("logistics",), False),
        (constraint("health", "general", fit=0.9), ("logistics",), True),
        (constraint("health", "general"), ("chat",), False),
        # how the customer must not be reached matters where it was said, or everywhere
        (constraint("contact", "logistics"), ("order",), True),
        (constraint("contact", "logistics"), ("consult",), False),
        (constraint("contact", "general"), ("aftersale",), True),
        (constraint("contact"), ("chat",), False),
    ],
)
def test_a_constraint_is_heeded_whether_it_fits_or_not(
    remembered: RecalledMemory, intents: tuple[str, ...], shown: bool
) -> None:
    assert fitting([remembered], route(*intents), SHOP) == ([remembered] if shown else [])


def test_constraints_come_first_and_leave_room_for_what_fits() -> None:
    fits = [{**memory("general"), "key": f"fits {number}"} for number in range(6)]
    vital = [{**constraint("health"), "key": f"vital {number}"} for number in range(5)]
    shown = [m["key"] for m in fitting([*fits, *vital], route("consult"), SHOP)]
    assert shown == ["vital 0", "vital 1", "vital 2", "fits 0", "fits 1"]
