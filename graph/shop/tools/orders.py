"""Looking up orders."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from graph.shop.tools.parcels import latest_parcels
from graph.shop.tools.reading import CURRENCY, identifier, language, local_time, money, no_such_order
from tools.declare import IDENTIFIER, tool
from tools.spec import ToolContext

ONE_ORDER = """
SELECT order_id, status, payment_status, payment_method, total, recipient, address, placed_at
FROM shop.customer_order
WHERE user_id = %(user_id)s AND replace(order_id, '-', '') = %(order_id)s
"""

ITEMS = """
SELECT i.order_id, i.sku, p.name_zh, p.name_en, i.quantity, i.unit_price
FROM shop.order_item AS i
JOIN shop.customer_order AS o USING (order_id)
JOIN shop.product AS p USING (sku)
WHERE o.user_id = %(user_id)s AND i.order_id = ANY(%(order_ids)s)
ORDER BY i.order_id, i.line
"""

LATEST_ORDERS = """
SELECT order_id, status, total, placed_at, count(*) OVER () AS orders
FROM shop.customer_order
WHERE user_id = %(user_id)s
ORDER BY placed_at DESC
LIMIT %(most)s
"""

MOST_LISTED = 5

# The telephone stays in the business system: whoever needs a contact asks the customer for one.
_SHOWN = (
    "order_id",
    "status",
    "payment_status",
    "payment_method",
    "total",
    "currency",
    "placed_at",
    "recipient",
    "address",
    "items",
    "parcels",
    "orders",
    "count",
)
_WITHOUT_ADDRESS = tuple(name for name in _SHOWN if name not in ("recipient", "address", "payment_method"))


@tool(
    identifiers=("order_id", "orders[].order_id", "parcels[].tracking_no"),
    details=("address", "total"),
    keep={"order": _SHOWN, "*": _WITHOUT_ADDRESS},
    progress={"zh": "正在查询订单 {order_id}", "en": "looking up order {order_id}"},
)
async def order_query(
    context: ToolContext,
    order_id: Annotated[
        str | None,
        IDENTIFIER,
        Field(
            description="Order number such as ABC-20240520-001. Omit it to list the customer's latest orders.",
            max_length=40,
        ),
    ] = None,
    include_logistics: Annotated[
        bool, Field(description="Whether to add the parcels with where each was last seen.")
    ] = True,
) -> dict[str, Any]:
    """Look up one order of the customer: state, payment, amount, articles and parcels. Use it for any question about
    an order or, by order number, about its parcel. Without order_id it lists the customer's latest orders, newest
    first: use that when they give no number ("my latest order"). Finds only this customer's orders."""
    if order_id is None:
        return await _latest(context)
    rows = await context.database.fetch(
        ONE_ORDER, {"user_id": context.user_id, "order_id": identifier(order_id)}
    )
    if not rows:
        raise no_such_order(order_id)
    order = rows[0]
    items = await _items(context, [order["order_id"]])
    found = {
        "order_id": order["order_id"],
        "status": order["status"],
        "payment_status": order["payment_status"],
        "payment_method": order["payment_method"],
        "total": money(order["total"]),
        "currency": CURRENCY,
        "placed_at": local_time(order["placed_at"], context),
        "recipient": order["recipient"],
        "address": order["address"],
        "items": items.get(order["order_id"], []),
    }
    if include_logistics:
        found["parcels"] = await latest_parcels(context, order["order_id"])
    return found


async def _latest(context: ToolContext) -> dict[str, Any]:
    rows = await context.database.fetch(LATEST_ORDERS, {"user_id": context.user_id, "most": MOST_LISTED})
    items = await _items(context, [row["order_id"] for row in rows])
    return {
        "orders": [
            {
                "order_id": row["order_id"],
                "status": row["status"],
                "placed_at": local_time(row["placed_at"], context),
                "total": money(row["total"]),
                "items": [item["name"] for item in items.get(row["order_id"], [])],
            }
            for row in rows
        ],
        "count": rows[0]["orders"] if rows else 0,
    }


async def _items(context: ToolContext, order_ids: list[str]) -> dict[str, list[dict[str, Any]]]:
    """Articles by order."""
    rows = await context.database.fetch(ITEMS, {"user_id": context.user_id, "order_ids": order_ids})
    name = f"name_{language(context)}"
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["order_id"], []).append(
            {
                "sku": row["sku"],
                "name": row[name],
                "quantity": row["quantity"],
                "unit_price": money(row["unit_price"]),
            }
        )
    return found
