"""After-sales requests: opening, approval, progress."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from graph.shop.business import SHOP
from memory.database import Database
from nodes.settings import NodeSettings
from tests.support.shop import CUSTOMER, NOW, STRANGER, TOOLS, approval_of, context_for
from tools.errors import BusinessError

TEA_SET, YOGA_MAT, CANCELLED = "GHI-20240512-003", "PQR-20240501-006", "MNO-20240408-005"
REQUEST = {"order_id": TEA_SET, "issue_desc": "收到时有一个杯子碎了，想退货", "contact": "13800138123"}


async def create(
    database: Database, user_id: str = CUSTOMER, key: str | None = None, **changes: Any
) -> dict[str, Any]:
    done = await TOOLS["aftersale_create"].run(
        {**REQUEST, **changes}, context_for(database, user_id, key=key)
    )
    assert isinstance(done, dict)
    return done


async def tickets(database: Database, user_id: str = CUSTOMER, **args: Any) -> list[dict[str, Any]]:
    found = await TOOLS["aftersale_query"].run(args, context_for(database, user_id))
    return list(found["tickets"])


async def test_a_request_becomes_a_ticket_with_number_contact_and_amount(database: Database) -> None:
    ticket = await create(database)
    assert ticket["ticket_no"].startswith("AS-20240527-")
    assert (ticket["status"], ticket["amount"], ticket["currency"]) == ("open", "688.00", "CNY")
    rows = await database.fetch("SELECT * FROM shop.ticket WHERE ticket_no = %s", (ticket["ticket_no"],))
    assert (rows[0]["contact"], rows[0]["user_id"], rows[0]["amount"]) == (
        "13800138123",
        CUSTOMER,
        Decimal("688.00"),
    )


async def test_the_same_call_opens_one_ticket_however_often_it_runs(database: Database) -> None:
    runs = await asyncio.gather(*(create(database, key="once") for _ in range(4)))
    assert len({ticket["ticket_no"] for ticket in runs}) == 1
    rows = await database.fetch("SELECT FROM shop.ticket WHERE idempotency_key = 'once'")
    assert len(rows) == 1


async def test_a_call_in_doubt_is_settled_by_its_key(database: Database) -> None:
    settle = TOOLS["aftersale_create"].settle
    assert settle is not None
    assert await settle("once", REQUEST, context_for(database)) is None
    ticket = await create(database, key="once")
    assert await settle("once", REQUEST, context_for(database)) == ticket
    assert await settle("once", REQUEST, context_for(database, STRANGER)) is None


async def test_a_return_in_progress_is_noted_as_state_that_expires(database: Database) -> None:
    ticket = await create(database)
    rows = await database.fetch(
        "SELECT * FROM user_memory WHERE user_id = %s AND memory_type = 'state' AND superseded_by IS NULL",
        (CUSTOMER,),
    )
    assert [row["memory_key"] for row in rows] == [f"aftersale:{TEA_SET}"]
    assert ticket["ticket_no"] in rows[0]["content"]
    assert rows[0]["valid_to"] > NOW
    assert "aftersale" in rows[0]["domains"]


async def test_staff_approve_what_is_above_the_amount(database: Database) -> None:
    approval = await approval_of("aftersale_create", REQUEST, context_for(database))
    assert approval is not None
    assert approval.by == "staff"
    assert TEA_SET in approval.reason
    assert "688.00" in approval.reason


@pytest.mark.parametrize("order_id", [YOGA_MAT, CANCELLED, "ZZZ-20240101-001"])
async def test_nobody_approves_small_amounts_or_what_will_be_refused(
    database: Database, order_id: str
) -> None:
    assert (
        await approval_of("aftersale_create", {**REQUEST, "order_id": order_id}, context_for(database))
        is None
    )


async def test_the_amount_is_a_setting(database: Database) -> None:
    tools = {spec.name: spec for spec in SHOP.tools_for(NodeSettings(steward_approval_amount=100))}
    rule = tools["aftersale_create"].approval
    assert callable(rule)
    assert await rule({**REQUEST, "order_id": YOGA_MAT}, context_for(database)) is not None


async def test_a_cancelled_order_has_nothing_to_return(database: Database) -> None:
    with pytest.raises(BusinessError, match="cancelled"):
        await create(database, order_id=CANCELLED)


async def test_nobody_opens_or_sees_requests_about_the_orders_of_others(database: Database) -> None:
    with pytest.raises(BusinessError) as caught:
        await create(database, STRANGER)
    assert caught.value.kind == "not_found"
    ticket = await create(database)
    with pytest.raises(BusinessError, match="no ticket"):
        await tickets(database, STRANGER, ticket_no=ticket["ticket_no"])
    assert await tickets(database, STRANGER, order_id=TEA_SET) == []


async def test_requests_are_found_by_number_by_order_and_without_either(database: Database) -> None:
    ticket = await create(database)
    number = ticket["ticket_no"]
    assert [
        each["ticket_no"] for each in await tickets(database, ticket_no=number.lower().replace("-", ""))
    ] == [number]
    assert [each["ticket_no"] for each in await tickets(database, order_id=TEA_SET)] == [number]
    assert [each["ticket_no"] for each in await tickets(database)] == [number, "AS-20240508-0900"]


async def test_a_request_that_failed_before_its_state_was_noted_is_completed_on_the_next_run(
    database: Database,
) -> None:
    class Unreachable:
        async def put(self, *args: Any, **kwargs: Any) -> None:
            raise ConnectionError

    broken = replace(context_for(database, key="once"), state=Unreachable())  # type: ignore[arg-type]
    with pytest.raises(ConnectionError):
        await TOOLS["aftersale_create"].run(REQUEST, broken)
    ticket = await create(database, key="once")
    assert len(await tickets(database, order_id=TEA_SET)) == 1
    rows = await database.fetch("SELECT content FROM user_memory WHERE memory_type = 'state'")
    assert ticket["ticket_no"] in rows[0]["content"]
