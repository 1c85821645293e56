"""Key facts of a session are bounded, and what matters most stays."""

from __future__ import annotations

from memory.key_facts import bounded, merged_order
from memory.tokens import count


def test_few_facts_all_stay_in_their_order() -> None:
    facts = {"b": "two", "a": "one"}
    assert list(bounded(facts).items()) == list(facts.items())


def test_of_too_many_the_latest_confirmed_stay_and_the_bound_holds() -> None:
    facts = {f"fact_{n}": f"value number {n} of the session" for n in range(100)}
    kept = bounded(facts, list(facts), tokens=200)
    assert list(kept) == [f"fact_{n}" for n in range(100 - len(kept), 100)]
    assert sum(count(f"- {name}: {value}") for name, value in kept.items()) <= 200


def test_an_allergy_and_a_decision_outlast_everything_else() -> None:
    facts = {"food_allergy": "对花生过敏", "decision": "refund instead of exchange"}
    facts |= {f"fact_{n}": f"value number {n}" for n in range(200)}
    kept = bounded(facts, list(facts), tokens=120)
    assert {"food_allergy", "decision"} <= set(kept)


def test_what_is_confirmed_again_moves_to_the_end() -> None:
    kept = {"a": "1", "b": "2", "c": "3"}
    assert merged_order(["a", "b", "c"], ["a"], kept) == ["b", "c", "a"]
    assert merged_order(["a", "b"], ["c"], {"b": "2", "c": "3"}) == ["b", "c"]
