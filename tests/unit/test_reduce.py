"""A large result is made to fit, and what later steps hang on is still there."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.envelope import dump
from tools.reduce import reduce, shorten
from tools.spec import JSON
from tools.tables import compact


def count(text: str) -> int:
    """About what a tokenizer says of Chinese and English, without its cost."""
    return sum(1 if ord(character) > 0x2E80 else 0.3 for character in text).__ceil__()


def order(number: int, note: str = "") -> dict[str, JSON]:
    return {
        "order_id": f"ABC-202405{number:02}-{number:03}",
        "status": ["paid", "shipped", "done"][number % 3],
        "total": round(number * 19.9, 2),
        "created_at": f"2024-05-{number % 28 + 1:02}T08:00:00+08:00",
        "note": note or f"Leave at the door {number}. " * 40,
    }


def records(data: JSON) -> list[dict[str, JSON]]:
    """The rows of a table as records again."""
    assert isinstance(data, dict)
    columns, rows, same = data["columns"], data["rows"], data.get("same", {})
    assert isinstance(columns, list)
    assert isinstance(rows, list)
    assert isinstance(same, dict)
    return [{**same, **dict(zip(columns, row, strict=True))} for row in rows]  # type: ignore[arg-type]


def test_what_fits_is_left_alone() -> None:
    data: JSON = {"orders": [order(1, "short")]}
    reduced = reduce(data, 600, count)
    assert reduced.data is data
    assert not reduced.cut


def test_like_records_become_a_table_before_anything_is_cut() -> None:
    data: JSON = [order(n, "short") for n in range(1, 21)]
    reduced = reduce(data, 700, count)
    assert not reduced.cut
    assert records(reduced.data) == data
    assert count(dump(data)) > 700 >= count(dump(reduced.data))


def test_a_list_is_cut_to_its_head_with_the_count_and_the_head_keeps_what_matters() -> None:
    data: JSON = {"orders": [order(n) for n in range(1, 101)], "customer": "u1"}
    reduced = reduce(data, 600, count)
    assert isinstance(reduced.data, dict)
    kept = records(reduced.data["orders"])
    assert 3 <= len(kept) < 100
    assert reduced.cut["orders"] == f"first {len(kept)} of 100"
    for index, record in enumerate(kept):
        whole = order(index + 1)
        for name in ("order_id", "status", "total", "created_at"):
            assert record[name] == whole[name]
    assert reduced.data["customer"] == "u1"


def test_long_texts_are_shortened_and_their_facts_named() -> None:
    text = "The parcel is late. " * 200 + "Refund 30.50 for ABC-20240520-001 on 2024-06-01."
    reduced = reduce({"policy": text, "id": "P-1"}, 200, count)
    assert isinstance(reduced.data, dict)
    assert reduced.data["id"] == "P-1"
    shown = reduced.data["policy"]
    assert isinstance(shown, str)
    assert shown.startswith("The parcel is late.")
    for fact in ("30.50", "ABC-20240520-001", "2024-06-01"):
        assert fact in shown
    assert reduced.cut == {"policy": "long texts are shortened"}


def test_a_short_value_and_a_link_are_never_shortened() -> None:
    assert shorten("a" * 60, 60) == "a" * 60
    link = "https://example.org/track/" + "x" * 120
    assert shorten(link, 60) == link


def test_a_map_of_records_is_cut_like_a_list() -> None:
    data: Any = {str(n): {"price": n * 1.5, "available": True, "text": "word " * 30} for n in range(200)}
    reduced = reduce(data, 300, count)
    assert "of 200" in reduced.cut["data"]
    assert '"0"' in dump(reduced.data)


def test_a_record_that_is_itself_too_large_keeps_its_essential_fields() -> None:
    data: Any = {f"remark_{n}": f"word {n}" for n in range(500)}
    data |= {"order_id": "ABC-1", "status": "shipped", "total": 12.5, "shipped_on": "2024-05-20"}
    reduced = reduce(data, 200, count)
    assert isinstance(reduced.data, dict)
    for name in ("order_id", "status", "total", "shipped_on"):
        assert reduced.data[name] == data[name]


def test_lists_of_lists_of_records_share_one_table() -> None:
    leg: dict[str, JSON] = {"flight": "HAT1", "from": "SFO", "to": "JFK", "seats": {"economy": 3}}
    data: JSON = [[{**leg, "flight": f"HAT{n}"}, {**leg, "flight": f"HAT{n + 50}"}] for n in range(4)]
    table = compact(data)
    assert isinstance(table, dict)
    assert table["columns"] == ["flight"]
    assert table["groups"] == [[[f"HAT{n}"], [f"HAT{n + 50}"]] for n in range(4)]
    assert table["same"] == {"from": "SFO", "to": "JFK", "seats.economy": 3}


@pytest.mark.parametrize(
    "data",
    [
        "x" * 2_000_000,
        "文" * 500_000,
        [["a" * 300] * 60] * 60,
        {str(n): n for n in range(20_000)},
        {"a" * n: n for n in range(1, 400)},
        {"k" * 3000: "v"},
        [{f"c{n}": "v" * 50 for n in range(300)} for _ in range(50)],
    ],
)
def test_whatever_it_is_it_fits_afterwards(data: JSON) -> None:
    reduced = reduce(data, 100, count)
    assert count(dump([reduced.data, dict(reduced.cut)])) <= 110
    assert reduced.cut


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=200),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=12), inner, max_size=8),
    max_leaves=60,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(JSON_VALUES, st.integers(20, 300))
def test_any_value_is_within_any_budget_afterwards_and_still_json(data: Any, budget: int) -> None:
    reduced = reduce(data, budget, count)
    text = dump(reduced.data)
    assert json.loads(text) == reduced.data
    assert count(text) <= budget


CELLS = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(0, 1) | st.text(max_size=3)
RECORDS = st.fixed_dictionaries({"a": CELLS, "b": st.fixed_dictionaries({"c": CELLS})}, optional={"d": CELLS})


@settings(max_examples=100, deadline=None)
@given(st.lists(RECORDS, min_size=3, max_size=6))
def test_a_table_loses_nothing(data: Any) -> None:
    for row, record in zip(records(compact(data)), data, strict=True):
        flat = {"a": record["a"], "b.c": record["b"]["c"], "d": record.get("d")}
        assert {name: (value, type(value)) for name, value in row.items()} == {
            name: (value, type(value)) for name, value in flat.items() if name in row
        }
        assert row.keys() >= flat.keys() - {"d"}
        assert "d" in row or "d" not in record
