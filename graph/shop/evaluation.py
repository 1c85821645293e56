"""How the shop's conversations are tried: its cases, and what they may look at in its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph.shop.texts import FOLDER
from memory.database import Database
from nodes.evaluation import Evaluation

ORDER = """
SELECT order_id, status, payment_status, recipient, address FROM shop.customer_order WHERE order_id = %s
"""
TICKETS = """
SELECT ticket_no, order_id, status, issue_desc, contact, amount::text AS amount FROM shop.ticket
 WHERE user_id = %(user_id)s AND (%(order_id)s::text IS NULL OR order_id = %(order_id)s)
 ORDER BY created_at DESC
"""


async def order(database: Database, user_id: str, of: Mapping[str, Any]) -> dict[str, Any] | None:
    """An order by `order_id`, whoever's it is."""
    return await database.fetch_one(ORDER, (of["order_id"],))


async def tickets(database: Database, user_id: str, of: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The customer's after-sales requests, the latest first; with `order_id` those about it."""
    return await database.fetch(TICKETS, {"user_id": user_id, "order_id": of.get("order_id")})


async def ticket_count(database: Database, user_id: str, of: Mapping[str, Any]) -> int:
    """How many requests `tickets` shows."""
    return len(await tickets(database, user_id, of))


EVALUATION = Evaluation(
    cases=FOLDER / "eval",
    views={"order": order, "tickets": tickets, "ticket_count": ticket_count},
    demo_lacks={
        "noise": "it is thrown off by much that is beside the point",
        "paraphrase": "it knows a wish by its usual words, not by its meaning",
        "typos": "it does not read misspelled words",
        "reasoning": "it draws no conclusions from what the tools return",
        "reference": "it follows simple references to what was said, not free ones",
    },
)
