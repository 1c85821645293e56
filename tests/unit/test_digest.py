"""A digest is taken only when it invents nothing and loses nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tools.digest import fault_of

ORDERS: Any = {
    "orders": [
        {
            "order_id": "ABC-1",
            "status": "shipped",
            "total": 59.0,
            "created_at": "2024-05-20",
            "customer_id": "u1",
        },
        {
            "order_id": "ABC-2",
            "status": "paid",
            "total": 12.5,
            "created_at": "2024-05-22",
            "customer_id": "u1",
        },
        {"order_id": "ABC-3", "status": "paid", "total": 7, "created_at": "2024-05-25", "customer_id": "u1"},
    ]
}
KEPT: Any = {
    "order_id": "ABC-1",
    "status": "shipped",
    "total": 59,
    "created_at": "2024-05-20",
    "customer_id": "u1",
}


@pytest.mark.parametrize(
    "digest",
    [
        {"orders": [KEPT]},
        {"text": "Order ABC-1 of u1 from 2024-05-20 over 59.00 is shipped; 3 orders in all."},
        {"count": 3},
        {"orders": [KEPT], "note": "客户共有 3 个订单"},
    ],
)
def test_a_faithful_digest_is_taken(digest: Any) -> None:
    assert fault_of(digest, ORDERS) is None


@pytest.mark.parametrize(
    ("digest", "why"),
    [
        ({}, "empty"),
        ({"orders": [{**KEPT, "total": 60}]}, "60"),
        ({"orders": [{**KEPT, "order_id": "ABC-9"}]}, "ABC-9"),
        ({"orders": [{**KEPT, "status": "delivered"}]}, "delivered"),
        ({"orders": [KEPT], "delivery": "2024-06-01"}, "2024-06-01"),
        ({"text": "ABC-1 will arrive in 48 hours"}, "48"),
    ],
)
def test_an_invented_value_is_found(digest: Any, why: str) -> None:
    assert why in (fault_of(digest, ORDERS) or "")


@pytest.mark.parametrize("lost", ["status", "total", "created_at"])
def test_a_record_that_is_kept_keeps_state_amount_and_date(lost: str) -> None:
    digest = {"orders": [{name: value for name, value in KEPT.items() if name != lost}]}
    assert "lost" in (fault_of(digest, ORDERS) or "")


def test_the_users_own_objects_are_not_all_dropped() -> None:
    assert fault_of({"count": 3}, ORDERS, identifiers=["ABC-1", "ABC-2", "ABC-3"]) is not None
    assert fault_of({"orders": [KEPT]}, ORDERS, identifiers=["ABC-1", "ABC-2", "ABC-3"]) is None
