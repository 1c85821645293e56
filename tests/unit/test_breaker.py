"""A tool that keeps failing is taken out for a while."""

from __future__ import annotations

import pytest

from tools.breaker import Breaker


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(failures=3, seconds=30, clock=clock)


def fail(breaker: Breaker, times: int) -> None:
    for _ in range(times):
        assert breaker.admit("search") == 0
        breaker.failed("search")


def test_lets_calls_through_until_enough_failures_in_a_row(breaker: Breaker) -> None:
    fail(breaker, 2)
    assert breaker.admit("search") == 0
    breaker.succeeded("search")
    fail(breaker, 2)
    assert breaker.position("search") == "closed"


def test_opens_and_says_how_long(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now += 10
    assert breaker.admit("search") == pytest.approx(20)
    assert breaker.position("search") == "open"


def test_one_tool_does_not_take_out_another(breaker: Breaker) -> None:
    fail(breaker, 3)
    assert breaker.admit("order_query") == 0


def test_lets_one_trial_through_when_the_time_is_up(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now += 30
    assert breaker.position("search") == "half_open"
    assert breaker.admit("search") == 0
    assert breaker.admit("search") > 0


def test_a_good_trial_closes_a_bad_one_opens_for_the_whole_time(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now += 30
    breaker.admit("search")
    breaker.failed("search")
    assert breaker.admit("search") == pytest.approx(30)
    clock.now += 30
    breaker.admit("search")
    breaker.succeeded("search")
    assert breaker.admit("search") == 0
    assert breaker.position("search") == "closed"


def test_an_abandoned_trial_makes_room_for_the_next(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now += 30
    breaker.admit("search")
    breaker.abandoned("search")
    assert breaker.admit("search") == 0
