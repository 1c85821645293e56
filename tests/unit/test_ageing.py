"""How memories fade."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from memory.ageing import HalfLives, weight
from memory.settings import MemorySettings


def test_after_one_half_life_half_is_left() -> None:
    assert weight(timedelta(days=60), 60) == 0.5
    assert weight(timedelta(), 60) == 1
    assert weight(timedelta(days=-5), 60) == 1, "a clock that runs ahead makes nothing heavier"


@given(st.floats(0, 5000), st.floats(0, 5000))
def test_the_older_never_weighs_more(one: float, other: float) -> None:
    younger, older = sorted((one, other))
    assert weight(timedelta(days=older), 90) <= weight(timedelta(days=younger), 90)


def test_the_half_lives_are_those_of_the_settings_and_state_does_not_fade() -> None:
    lives = HalfLives.of(MemorySettings(_env_file=None, steward_half_life_decision_days=7)).by_type()
    assert lives["decision"] == 7
    assert weight(timedelta(days=3650), lives["state"]) > 0.99
