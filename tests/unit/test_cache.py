"""What may be cached, for whom, and how long."""

from __future__ import annotations

from typing import Any

import pytest

from tools.cache import ResultCache
from tools.spec import ToolSpec


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def _run(args: Any, context: Any) -> None: ...


def tool(**overrides: Any) -> ToolSpec:
    given: dict[str, Any] = {"name": "product_search", "cache_seconds": 60, **overrides}
    return ToolSpec(description="", parameters={}, run=_run, **given)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(clock: Clock) -> ResultCache:
    return ResultCache(clock)


def keep(cache: ResultCache, spec: ToolSpec, user: str, data: Any) -> None:
    ticket = cache.ticket(spec, user, {"query": "cup"})
    assert ticket is not None
    cache.put(ticket, data)


def kept(cache: ResultCache, spec: ToolSpec, user: str, **args: Any) -> str | None:
    ticket = cache.ticket(spec, user, args or {"query": "cup"})
    assert ticket is not None
    return cache.get(ticket)


def test_keeps_for_the_tools_own_time(cache: ResultCache, clock: Clock) -> None:
    keep(cache, tool(), "u1", [1])
    clock.now = 59
    assert kept(cache, tool(), "u1") == "[1]"
    clock.now = 61
    assert kept(cache, tool(), "u1") is None


def test_equal_arguments_share_an_entry_others_do_not(cache: ResultCache) -> None:
    keep(cache, tool(), "u1", [1])
    assert kept(cache, tool(), "u1", query="cup") == "[1]"
    assert kept(cache, tool(), "u1", query="cups") is None


def test_one_users_data_is_not_anothers(cache: ResultCache) -> None:
    keep(cache, tool(), "u1", [1])
    assert kept(cache, tool(), "u2") is None


def test_everyones_data_is_shared(cache: ResultCache) -> None:
    spec = tool(cache_scope="everyone")
    keep(cache, spec, "u1", [1])
    assert kept(cache, spec, "u2") == "[1]"


def test_what_writes_or_names_no_time_is_never_cached(cache: ResultCache) -> None:
    assert cache.ticket(tool(effect="write"), "u1", {}) is None
    assert cache.ticket(tool(cache_seconds=0), "u1", {}) is None


def test_a_write_of_the_user_drops_their_entries_only(cache: ResultCache) -> None:
    shared = tool(name="policy", cache_scope="everyone")
    for user in ("u1", "u2"):
        keep(cache, tool(), user, [user])
    keep(cache, shared, "u1", "policy")
    cache.wrote("u1")
    assert kept(cache, tool(), "u1") is None
    assert kept(cache, tool(), "u2") == '["u2"]'
    assert kept(cache, shared, "u1") == '"policy"'


def test_what_was_read_before_a_write_is_not_kept_after_it(cache: ResultCache) -> None:
    ticket = cache.ticket(tool(), "u1", {"query": "cup"})
    assert ticket is not None
    cache.wrote("u1")
    cache.put(ticket, ["stale"])
    assert kept(cache, tool(), "u1") is None


def test_a_kept_result_cannot_be_changed_by_who_got_it(cache: ResultCache) -> None:
    data = [1]
    keep(cache, tool(), "u1", data)
    data.append(2)
    assert kept(cache, tool(), "u1") == "[1]"
