"""The shop with tools for a customer who has a hundred orders: lists, filters, and two writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from graph.shop.business import SHOP
from memory.database import Database
from nodes.business import Business, Intent
from nodes.settings import NodeSettings
from tools.declare import IDENTIFIER, tool
from tools.spec import Arguments, ToolContext, ToolSpec

CUSTOMER = "wholesale"
SEED = Path(__file__).with_name("chain.sql")
OFFERED = ("order_list", "ticket_list", "payment_list", "order_query", "stock_query", "order_note")

ORDERS = """
SELECT o.order_id, o.status, o.payment_status, o.payment_method, o.total, o.recipient, o.address, o.placed_at,
       i.sku, p.name_en AS article, i.quantity, i.unit_price
FROM shop.customer_order AS o JOIN shop.order_item AS i USING (order_id) JOIN shop.product AS p USING (sku)
WHERE o.user_id = %(user_id)s AND (%(status)s::text IS NULL OR o.status = %(status)s)
ORDER BY o.order_id
"""
TICKETS = """
SELECT ticket_no, order_id, status, issue_desc, contact, amount, created_at, updated_at
FROM shop.ticket WHERE user_id = %(user_id)s AND (%(order_id)s::text IS NULL OR order_id = %(order_id)s)
ORDER BY ticket_no
"""
PAYMENTS = """
SELECT 'PAY-' || substr(md5(order_id), 1, 10) AS payment_no, order_id, payment_method, payment_status AS status,
       total AS amount, placed_at AS paid_at, 'Card ending 4242, settled by the acquirer' AS description
FROM shop.customer_order WHERE user_id = %(user_id)s AND (%(order_id)s::text IS NULL OR order_id = %(order_id)s)
ORDER BY order_id
"""
ANY_ORDER = Annotated[
    str | None, IDENTIFIER, Field(description="Order number; omit it for those of all orders.", max_length=40)
]


@tool(
    identifiers=("orders[].order_id",),
    keep=("orders[].order_id", "orders[].status", "orders[].total", "orders[].placed_at", "count"),
)
async def order_list(
    context: ToolContext,
    status: Annotated[str | None, Field(description="Only orders of this state, such as shipped.")] = None,
) -> dict[str, Any]:
    """List all orders of the customer, of one state where it is given. Use it to find an order without its number."""
    rows = await context.database.fetch(ORDERS, {"user_id": context.user_id, "status": status})
    return {"orders": _plain(rows), "count": len(rows)}


@tool(
    identifiers=("tickets[].ticket_no", "tickets[].order_id"),
    keep=("tickets[].ticket_no", "tickets[].order_id", "tickets[].status", "tickets[].amount", "count"),
)
async def ticket_list(context: ToolContext, order_id: ANY_ORDER = None) -> dict[str, Any]:
    """List the after-sales tickets of the customer, of one order where it is given."""
    rows = await context.database.fetch(TICKETS, {"user_id": context.user_id, "order_id": order_id})
    return {"tickets": _plain(rows), "count": len(rows)}


@tool(
    identifiers=("payments[].payment_no",),
    keep=("payments[].payment_no", "payments[].order_id", "payments[].status", "payments[].amount", "count"),
)
async def payment_list(context: ToolContext, order_id: ANY_ORDER = None) -> dict[str, Any]:
    """List the payments of the customer, of one order where it is given."""
    rows = await context.database.fetch(PAYMENTS, {"user_id": context.user_id, "order_id": order_id})
    return {"payments": _plain(rows), "count": len(rows)}


@tool(effect="write", repeatable=True, identifiers=("order_id",))
async def order_note(
    context: ToolContext,
    order_id: Annotated[str, IDENTIFIER, Field(description="Order number.", max_length=40)],
    reference: Annotated[
        str, IDENTIFIER, Field(description="Ticket or payment that it is about.", max_length=40)
    ],
    note: Annotated[str, Field(description="What colleagues are to know.", max_length=200)],
) -> dict[str, Any]:
    """Note something for colleagues on an order. Use it once order and reference are known."""
    return {"order_id": order_id, "reference": reference, "status": "noted"}


def chain_shop(keep_whole: Callable[[str, Any], None]) -> Business:
    """The shop with these tools; `keep_whole` gets every whole result by call id."""

    def tools(settings: NodeSettings) -> Sequence[ToolSpec]:
        specs = [*SHOP.tools_for(settings), order_list, ticket_list, payment_list, order_note]
        return [_watched(spec, keep_whole) for spec in specs]

    intent = Intent("chat", "Everything.", label={"en": "looking after many orders"}, tools=OFFERED)
    return replace(SHOP, intents=[intent], tools=tools)


async def seed(database: Database) -> None:
    for statement in SEED.read_text("utf-8").split(";\n"):
        if statement.strip():
            await database.execute(statement)


def _watched(spec: ToolSpec, keep_whole: Callable[[str, Any], None]) -> ToolSpec:
    async def run(args: Arguments, context: ToolContext) -> Any:
        result = await spec.run(args, context)
        keep_whole(context.call_id, result)
        return result

    return replace(spec, run=run)


def _plain(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {name: str(value) if isinstance(value, Decimal) else value for name, value in row.items()}
        for row in rows
    ]
