"""Tracking parcels by their numbers."""

from __future__ import annotations

import pytest

from memory.database import Database
from tests.support.shop import STRANGER, TOOLS, context_for
from tools.errors import BusinessError


async def test_a_parcel_is_tracked_from_its_newest_event_back(database: Database) -> None:
    parcel = await TOOLS["logistics_query"].run({"tracking_no": "sf 1234567890"}, context_for(database))
    assert (parcel["order_id"], parcel["status"], parcel["carrier"]) == (
        "ABC-20240520-001",
        "in_transit",
        "顺丰速运",
    )
    assert parcel["events"][0] == {
        "at": "2024-05-22T08:15+08:00",
        "location": "上海转运中心",
        "event": "已到达",
    }
    times = [event["at"] for event in parcel["events"]]
    assert times == sorted(times, reverse=True)


async def test_times_are_given_in_the_customers_zone(database: Database) -> None:
    context = context_for(database, locale="en", timezone="America/New_York")
    parcel = await TOOLS["logistics_query"].run({"tracking_no": "SF1234567890"}, context)
    assert parcel["events"][0]["at"] == "2024-05-21T20:15-04:00"


async def test_a_parcel_of_somebody_else_is_not_found(database: Database) -> None:
    with pytest.raises(BusinessError) as caught:
        await TOOLS["logistics_query"].run({"tracking_no": "SF1234567890"}, context_for(database, STRANGER))
    assert caught.value.kind == "not_found"
