"""Changing an order: cancelling it, sending it elsewhere. Both only until it has left the warehouse."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from psycopg.types.json import Jsonb
from pydantic import Field

from graph.shop.tools.reading import CURRENCY, identifier, language, money, no_such_order
from memory.database import Connection
from tools.declare import DETAIL, IDENTIFIER, tool
from tools.errors import BusinessError
from tools.spec import Approval, Arguments, ToolContext

Action = Literal["cancel", "change_address"]

ORDER = """
SELECT order_id, status, payment_status, total, address
FROM shop.customer_order
WHERE user_id = %(user_id)s AND replace(order_id, '-', '') = %(order_id)s
"""
ORDER_FOR_CHANGE = ORDER + "FOR UPDATE"

CANCEL = """
UPDATE shop.customer_order
SET status = 'cancelled',
    payment_status = CASE payment_status WHEN 'paid' THEN 'refunding' ELSE 'closed' END,
    updated_at = %(now)s
WHERE order_id = %(order_id)s
RETURNING status, payment_status
"""

RESTOCK = """
UPDATE shop.product AS p
SET stock = p.stock + i.quantity
FROM (SELECT sku, sum(quantity) AS quantity FROM shop.order_item WHERE order_id = %(order_id)s GROUP BY sku) AS i
WHERE i.sku = p.sku
"""

READDRESS = """
UPDATE shop.customer_order SET address = %(address)s, updated_at = %(now)s WHERE order_id = %(order_id)s
"""

RECORD = """
INSERT INTO shop.order_change (idempotency_key, order_id, action, before, after, changed_at)
VALUES (%(key)s, %(order_id)s, %(action)s, %(before)s, %(after)s, %(now)s)
"""

RECORDED = """
SELECT c.after
FROM shop.order_change AS c
JOIN shop.customer_order AS o USING (order_id)
WHERE c.idempotency_key = %(key)s AND o.user_id = %(user_id)s
"""

CHANGEABLE = ("pending_payment", "paid", "packing")


async def ask_before_cancelling(args: Arguments, context: ToolContext) -> Approval | None:
    """The customer confirms a cancellation that can be made; one that cannot is refused without a question."""
    if args.get("action") != "cancel":
        return None
    rows = await context.database.fetch(
        ORDER, {"user_id": context.user_id, "order_id": identifier(str(args.get("order_id", "")))}
    )
    if not rows or rows[0]["status"] not in CHANGEABLE:
        return None
    order_id, total = rows[0]["order_id"], money(rows[0]["total"])
    if language(context) == "zh":
        return Approval("customer", f"确认取消订单 {order_id}（{total} 元）吗？取消后不能恢复。")
    return Approval("customer", f"Cancel order {order_id} ({total} {CURRENCY})? This cannot be undone.")


async def change_made(key: str, args: Arguments, context: ToolContext) -> dict[str, Any] | None:
    """What a change under this key has done, if it took effect."""
    rows = await context.database.fetch(RECORDED, {"key": key, "user_id": context.user_id})
    return rows[0]["after"] if rows else None


@tool(
    effect="write",
    repeatable=True,  # the key is unique, so a second run finds the first one's outcome
    approval=ask_before_cancelling,
    identifiers=("order_id",),
    details=("address", "refund.amount"),
    settle=change_made,
    progress={"zh": "正在修改订单 {order_id}", "en": "changing order {order_id}"},
)
async def order_update(
    context: ToolContext,
    order_id: Annotated[
        str,
        IDENTIFIER,
        Field(description="Order number such as ABC-20240520-001.", min_length=1, max_length=40),
    ],
    action: Annotated[
        Action,
        Field(description="cancel: cancel the whole order. change_address: send it to another address."),
    ],
    address: Annotated[
        str | None,
        DETAIL,
        Field(
            description="The complete new address in the customer's own words; for change_address only.",
            min_length=4,
            max_length=300,
        ),
    ] = None,
) -> dict[str, Any]:
    """Cancel an order of the customer or change its delivery address. Use it only when the customer has asked for
    exactly that. Possible until the order has been shipped; articles and quantities cannot be changed. The customer
    is asked to confirm a cancellation. A paid order that is cancelled is refunded the way it was paid."""
    if action == "change_address" and not (address and address.strip()):
        raise BusinessError(
            "The new address is missing.", try_next="Ask the customer for the complete new address."
        )
    made = await change_made(context.idempotency_key, {}, context)
    if made is not None:
        return made
    async with context.database.transaction() as connection:
        cursor = await connection.execute(
            ORDER_FOR_CHANGE, {"user_id": context.user_id, "order_id": identifier(order_id)}
        )
        order = await cursor.fetchone()
        if order is None:
            raise no_such_order(order_id)
        if order["status"] not in CHANGEABLE:
            raise _too_late(order["order_id"], order["status"], action)
        if action == "cancel":
            after = await _cancel(connection, order, context)
        else:
            after = await _readdress(connection, order, str(address).strip(), context)
        await _record(connection, order, action, after, context)
    return after


def _too_late(order_id: str, status: str, action: Action) -> BusinessError:
    if status == "cancelled":
        return BusinessError(f"Order {order_id} is already cancelled.")
    what = "cancelled" if action == "cancel" else "sent to another address"
    return BusinessError(
        f"Order {order_id} is {status} and can no longer be {what}.",
        try_next="Tell the customer; they can refuse the parcel, or return the articles after delivery.",
    )


async def _cancel(connection: Connection, order: dict[str, Any], context: ToolContext) -> dict[str, Any]:
    values = {"order_id": order["order_id"], "now": context.now}
    row = await (await connection.execute(CANCEL, values)).fetchone()
    await connection.execute(RESTOCK, values)
    assert row is not None
    refund = {"amount": money(order["total"]), "currency": CURRENCY, "status": row["payment_status"]}
    return {
        "order_id": order["order_id"],
        "action": "cancel",
        "status": row["status"],
        "refund": refund if row["payment_status"] == "refunding" else None,
    }


async def _readdress(
    connection: Connection, order: dict[str, Any], address: str, context: ToolContext
) -> dict[str, Any]:
    values = {"order_id": order["order_id"], "address": address, "now": context.now}
    await connection.execute(READDRESS, values)
    return {
        "order_id": order["order_id"],
        "action": "change_address",
        "status": order["status"],
        "address": address,
    }


async def _record(
    connection: Connection, order: dict[str, Any], action: Action, after: dict[str, Any], context: ToolContext
) -> None:
    before = json.loads(json.dumps(order, default=str))
    await connection.execute(
        RECORD,
        {
            "key": context.idempotency_key,
            "order_id": order["order_id"],
            "action": action,
            "before": Jsonb(before),
            "after": Jsonb(after),
            "now": context.now,
        },
    )
