"""Parcels and where they were seen."""

from __future__ import annotations

from typing import Any

from graph.shop.tools.reading import language, local_time
from tools.spec import ToolContext

LATEST = """
SELECT p.tracking_no, p.carrier_zh, p.carrier_en, p.status, p.expected_on, p.delivered_at,
       e.happened_at, e.location_zh, e.location_en, e.event_zh, e.event_en
FROM shop.parcel AS p
JOIN shop.customer_order AS o USING (order_id)
JOIN LATERAL (
    SELECT * FROM shop.tracking_event WHERE tracking_no = p.tracking_no ORDER BY step DESC LIMIT 1
) AS e USING (tracking_no)
WHERE o.user_id = %(user_id)s AND p.order_id = %(order_id)s
ORDER BY p.shipped_at
"""


async def latest_parcels(context: ToolContext, order_id: str) -> list[dict[str, Any]]:
    """The parcels of one of the customer's orders, each with the place where it was last seen."""
    rows = await context.database.fetch(LATEST, {"user_id": context.user_id, "order_id": order_id})
    tongue = language(context)
    return [
        {
            "tracking_no": row["tracking_no"],
            "carrier": row[f"carrier_{tongue}"],
            "status": row["status"],
            "location": row[f"location_{tongue}"],
            "event": row[f"event_{tongue}"],
            "updated_at": local_time(row["happened_at"], context),
            "expected_on": row["expected_on"].isoformat(),
            "delivered_at": local_time(row["delivered_at"], context),
        }
        for row in rows
    ]
