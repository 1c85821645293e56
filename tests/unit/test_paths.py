"""Paths into results: values, and whitelists."""

from __future__ import annotations

from typing import Any

import pytest

from tools.paths import pick, scalars, values

ORDER: Any = {
    "order": {"id": "A-1", "items": [{"sku": "S1", "price": 5}, {"sku": "S2", "price": 7}], "paid": True},
    "switch type": "clicky",
    "dotted.name": "x",
    "tags": ["new", "gift"],
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("order.id", ["A-1"]),
        ("order.items[].sku", ["S1", "S2"]),
        ("order.items.sku", ["S1", "S2"]),
        ("order.items[1].sku", ["S2"]),
        ("order.items.1.sku", ["S2"]),
        ("order.items[9].sku", []),
        ("switch type", ["clicky"]),
        ("dotted.name", ["x"]),
        ("order.none.here", []),
        ("order.id.deeper", []),
        ("", [ORDER]),
    ],
)
def test_a_path_leads_to_its_values(path: str, found: list[Any]) -> None:
    assert list(values(ORDER, path)) == found


def test_a_list_at_the_top_is_entered() -> None:
    assert list(values([{"id": 1}, {"id": 2}], "[].id")) == [1, 2]
    assert list(values([{"id": 1}, {"id": 2}], "id")) == [1, 2]


def test_scalars_are_texts_without_repeats_flags_and_blanks() -> None:
    data: Any = {"ids": ["A", "A", 7, None, " ", True], "n": 1.5}
    assert scalars(data, ["ids", "n", "none"]) == ["A", "7", "1.5"]


def test_a_whitelist_keeps_the_shape_and_names_what_it_left_out() -> None:
    picked, left_out = pick(ORDER, ["order.items[].sku", "order.id", "tags"])
    assert picked == {
        "order": {"id": "A-1", "items": [{"sku": "S1"}, {"sku": "S2"}]},
        "tags": ["new", "gift"],
    }
    assert left_out == ["order.items[].price", "order.paid", "switch type", "dotted.name"]


def test_a_whitelist_keeps_whole_branches() -> None:
    assert pick(ORDER, ["order"]) == ({"order": ORDER["order"]}, ["switch type", "dotted.name", "tags"])


def test_a_whitelist_leaves_a_plain_value_alone() -> None:
    assert pick("not found", ["order"]) == ("not found", [])
