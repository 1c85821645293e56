"""Tracking one parcel by its number."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from graph.shop.tools.reading import identifier, language, local_time
from tools.declare import IDENTIFIER, tool
from tools.errors import BusinessError
from tools.spec import ToolContext

EVENTS = """
SELECT p.tracking_no, p.order_id, p.carrier_zh, p.carrier_en, p.status, p.expected_on, p.delivered_at,
       e.happened_at, e.location_zh, e.location_en, e.event_zh, e.event_en
FROM shop.parcel AS p
JOIN shop.customer_order AS o USING (order_id)
JOIN shop.tracking_event AS e USING (tracking_no)
WHERE o.user_id = %(user_id)s AND p.tracking_no = %(tracking_no)s
ORDER BY e.step DESC
"""


@tool(
    identifiers=("tracking_no", "order_id"),
    progress={"zh": "正在查询运单 {tracking_no}", "en": "tracking parcel {tracking_no}"},
)
async def logistics_query(
    context: ToolContext,
    tracking_no: Annotated[
        str,
        IDENTIFIER,
        Field(
            description="Tracking number as the carrier writes it, such as SF1234567890.",
            min_length=1,
            max_length=40,
        ),
    ],
) -> dict[str, Any]:
    """Track one parcel: its state, the expected day and each place where it was seen, newest first. Use it when a
    tracking number is known; with an order number alone, use order_query. Finds only this customer's parcels."""
    rows = await context.database.fetch(
        EVENTS, {"user_id": context.user_id, "tracking_no": identifier(tracking_no)}
    )
    if not rows:
        raise BusinessError(
            f"No parcel {tracking_no} belongs to an order of this customer.",
            kind="not_found",
            try_next="Check the number with the customer, or find the parcel by its order with order_query.",
        )
    tongue = language(context)
    parcel = rows[0]
    return {
        "tracking_no": parcel["tracking_no"],
        "order_id": parcel["order_id"],
        "carrier": parcel[f"carrier_{tongue}"],
        "status": parcel["status"],
        "expected_on": parcel["expected_on"].isoformat(),
        "delivered_at": local_time(parcel["delivered_at"], context),
        "events": [
            {
                "at": local_time(row["happened_at"], context),
                "location": row[f"location_{tongue}"],
                "event": row[f"event_{tongue}"],
            }
            for row in rows
        ],
    }
