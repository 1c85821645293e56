"""Looking up and changing orders, on the seeded shop."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memory.database import Database
from tests.support.shop import CUSTOMER, STRANGER, TOOLS, approval_of, context_for
from tools.errors import BusinessError

ABC, UNSENT = "ABC-20240520-001", "JKL-20240526-004"


async def query(
    database: Database, user_id: str = CUSTOMER, locale: str = "zh", **args: Any
) -> dict[str, Any]:
    found = await TOOLS["order_query"].run(args, context_for(database, user_id, locale=locale))
    assert isinstance(found, dict)
    return found


async def update(
    database: Database, user_id: str = CUSTOMER, key: str | None = None, **args: Any
) -> dict[str, Any]:
    done = await TOOLS["order_update"].run(args, context_for(database, user_id, key=key))
    assert isinstance(done, dict)
    return done


async def test_a_shipped_order_comes_with_the_place_where_its_parcel_was_last_seen(
    database: Database,
) -> None:
    order = await query(database, order_id=ABC)
    assert (order["status"], order["total"], order["currency"]) == ("shipped", "299.00", "CNY")
    parcel = order["parcels"][0]
    assert (parcel["tracking_no"], parcel["location"]) == ("SF1234567890", "上海转运中心")
    assert parcel["updated_at"] == "2024-05-22T08:15+08:00"


async def test_names_and_places_are_in_the_customers_language(database: Database) -> None:
    order = await query(database, locale="en-GB", order_id=ABC)
    assert order["parcels"][0]["location"] == "Shanghai transit centre"
    assert order["items"][0]["name"] == "wireless earphones (black)"


@pytest.mark.parametrize(
    "spelling", ["abc-20240520-001", "ABC20240520001", "ＡＢＣ－２０２４０５２０－００１", "ABC 20240520 001"]
)
async def test_an_order_is_found_in_any_spelling_a_person_would_accept(
    database: Database, spelling: str
) -> None:
    assert (await query(database, order_id=spelling))["order_id"] == ABC


async def test_parcels_are_left_out_on_request(database: Database) -> None:
    assert "parcels" not in await query(database, order_id=ABC, include_logistics=False)


async def test_without_a_number_the_customers_latest_orders_are_listed(database: Database) -> None:
    found = await query(database)
    placed = [order["placed_at"] for order in found["orders"]]
    assert found["orders"][0]["order_id"] == UNSENT
    assert placed == sorted(placed, reverse=True)
    assert (len(placed), found["count"]) == (5, 6)


async def test_somebody_elses_order_is_as_unknown_as_one_that_does_not_exist(database: Database) -> None:
    errors = []
    for user_id, order_id in ((STRANGER, ABC), (STRANGER, "ABC-20240520-999")):
        with pytest.raises(BusinessError) as caught:
            await query(database, user_id, order_id=order_id)
        errors.append((caught.value.kind, str(caught.value).replace(order_id, "")))
    assert errors[0] == errors[1]
    assert errors[0][0] == "not_found"


async def test_a_customer_reaches_none_of_the_orders_of_others(database: Database) -> None:
    rows = await database.fetch(
        "SELECT order_id FROM shop.customer_order WHERE user_id <> %s LIMIT 40", (CUSTOMER,)
    )
    for row in rows:
        with pytest.raises(BusinessError, match="no order"):
            await query(database, order_id=row["order_id"])
        with pytest.raises(BusinessError, match="no order"):
            await update(database, order_id=row["order_id"], action="cancel")


@pytest.mark.parametrize("user_id", ["user_12_", "user%", "' OR true --", "用户 😀", "USER_123"])
async def test_user_ids_are_compared_exactly(database: Database, user_id: str) -> None:
    assert await query(database, user_id) == {"orders": [], "count": 0}


async def test_cancelling_refunds_and_puts_the_articles_back(database: Database) -> None:
    before = await _stock(database, "LMP-WHT")
    done = await update(database, order_id=UNSENT, action="cancel")
    assert done["status"] == "cancelled"
    assert done["refund"] == {"amount": "159.00", "currency": "CNY", "status": "refunding"}
    assert await _stock(database, "LMP-WHT") == before + 1
    assert (await query(database, order_id=UNSENT))["payment_status"] == "refunding"


async def test_a_call_that_is_repeated_under_its_key_changes_nothing_more(database: Database) -> None:
    before = await _stock(database, "LMP-WHT")
    first = await update(database, key="once", order_id=UNSENT, action="cancel")
    assert await update(database, key="once", order_id=UNSENT, action="cancel") == first
    assert await _stock(database, "LMP-WHT") == before + 1


async def test_a_call_in_doubt_is_settled_by_its_key(database: Database) -> None:
    settle = TOOLS["order_update"].settle
    assert settle is not None
    context = context_for(database, key="once")
    assert await settle("once", {}, context) is None
    done = await update(database, key="once", order_id=UNSENT, action="cancel")
    assert await settle("once", {}, context) == done
    assert await settle("once", {}, context_for(database, STRANGER)) is None


async def test_two_cancellations_at_once_take_effect_once(database: Database) -> None:
    before = await _stock(database, "LMP-WHT")
    outcomes = await asyncio.gather(
        *(update(database, order_id=UNSENT, action="cancel") for _ in range(3)), return_exceptions=True
    )
    assert sum(isinstance(outcome, dict) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, BusinessError) for outcome in outcomes) == 2
    assert await _stock(database, "LMP-WHT") == before + 1


@pytest.mark.parametrize("action", ["cancel", "change_address"])
async def test_a_shipped_order_is_changed_no_more(database: Database, action: str) -> None:
    with pytest.raises(BusinessError, match="is shipped and can no longer be"):
        await update(database, order_id=ABC, action=action, address="上海市浦东新区世纪大道100号")


async def test_the_address_of_an_unsent_order_can_be_changed(database: Database) -> None:
    await update(database, order_id=UNSENT, action="change_address", address=" 上海市浦东新区世纪大道100号 ")
    assert (await query(database, order_id=UNSENT))["address"] == "上海市浦东新区世纪大道100号"


async def test_a_change_of_address_without_an_address_is_refused(database: Database) -> None:
    with pytest.raises(BusinessError, match="address is missing"):
        await update(database, order_id=UNSENT, action="change_address")


@pytest.mark.parametrize(("locale", "words"), [("zh", "确认取消订单"), ("en", "Cancel order")])
async def test_the_customer_confirms_a_cancellation_in_their_language(
    database: Database, locale: str, words: str
) -> None:
    args = {"order_id": UNSENT, "action": "cancel"}
    approval = await approval_of("order_update", args, context_for(database, locale=locale))
    assert approval is not None
    assert approval.by == "customer"
    assert words in approval.reason
    assert "159.00" in approval.reason


@pytest.mark.parametrize(
    ("user_id", "args"),
    [
        (CUSTOMER, {"order_id": ABC, "action": "cancel"}),
        (CUSTOMER, {"order_id": UNSENT, "action": "change_address", "address": "上海市世纪大道100号"}),
        (STRANGER, {"order_id": UNSENT, "action": "cancel"}),
    ],
)
async def test_nobody_is_asked_about_what_needs_no_asking_or_cannot_be_done(
    database: Database, user_id: str, args: dict[str, Any]
) -> None:
    assert await approval_of("order_update", args, context_for(database, user_id)) is None


async def _stock(database: Database, sku: str) -> int:
    rows = await database.fetch("SELECT stock FROM shop.product WHERE sku = %s", (sku,))
    return int(rows[0]["stock"])
