"""After-sales requests: opening one, and how the customer's requests stand."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import Field

from graph.shop.tools.reading import CURRENCY, identifier, language, local_time, money, no_such_order
from tools.declare import DETAIL, IDENTIFIER, tool
from tools.errors import BusinessError
from tools.spec import Approval, ApprovalRule, Arguments, ToolContext

ORDER = """
SELECT order_id, status, total
FROM shop.customer_order
WHERE user_id = %(user_id)s AND replace(order_id, '-', '') = %(order_id)s
"""

OPEN = """
INSERT INTO shop.ticket
    (ticket_no, order_id, user_id, status, issue_desc, contact, amount, idempotency_key, created_at, updated_at)
VALUES (
    'AS-' || %(day)s || '-' || lpad(nextval('shop.ticket_serial')::text, 4, '0'),
    %(order_id)s, %(user_id)s, 'open', %(issue_desc)s, %(contact)s, %(amount)s, %(key)s, %(now)s, %(now)s
)
ON CONFLICT (idempotency_key) DO NOTHING
"""

OPENED = """
SELECT ticket_no, order_id, status, amount
FROM shop.ticket
WHERE idempotency_key = %(key)s AND user_id = %(user_id)s
"""

TICKETS = """
SELECT ticket_no, order_id, status, issue_desc, amount, created_at, updated_at, count(*) OVER () AS tickets
FROM shop.ticket
WHERE user_id = %(user_id)s
  AND (%(ticket_no)s::text IS NULL OR replace(ticket_no, '-', '') = %(ticket_no)s)
  AND (%(order_id)s::text IS NULL OR replace(order_id, '-', '') = %(order_id)s)
ORDER BY created_at DESC
LIMIT 5
"""

REFUSED = {
    "cancelled": "Order {order_id} is cancelled; there is nothing to return.",
    "pending_payment": "Order {order_id} is pending_payment: it has not been paid and can simply be left.",
}
SHOP_ZONE = ZoneInfo("Asia/Shanghai")
"""Ticket numbers carry the shop's own day."""
IN_PROGRESS = timedelta(days=30)
"""How long "a return is in progress" is worth remembering; the ticket itself is kept."""
STATE = {
    "zh": "订单 {order_id} 的售后申请 {ticket_no} 正在处理，{day} 提交",
    "en": "after-sales request {ticket_no} for order {order_id} is in progress, opened on {day}",
}
NEXT_STEP = {
    "zh": "同事会在 1 个工作日内联系您，请保留商品和外包装。",
    "en": "A colleague will contact you within 1 working day; please keep the article and its packaging.",
}


def staff_above(limit: Decimal) -> ApprovalRule:
    """Staff approve requests on orders of more than the limit, in CNY."""

    async def rule(args: Arguments, context: ToolContext) -> Approval | None:
        order = await _order(context, str(args.get("order_id", "")))
        if order is None or order["status"] in REFUSED or order["total"] <= limit:
            return None
        return Approval(
            "staff",
            f"After-sales request for order {order['order_id']} of {money(order['total'])} {CURRENCY}, above "
            f"{money(limit)} {CURRENCY}. The customer says: {args.get('issue_desc', '')}",
        )

    return rule


async def request_opened(key: str, args: Arguments, context: ToolContext) -> dict[str, Any] | None:
    """The request that was opened under this key, if it was."""
    rows = await context.database.fetch(OPENED, {"key": key, "user_id": context.user_id})
    if not rows:
        return None
    ticket = rows[0]
    return {
        "ticket_no": ticket["ticket_no"],
        "order_id": ticket["order_id"],
        "status": ticket["status"],
        "amount": money(ticket["amount"]),
        "currency": CURRENCY,
        "next_step": NEXT_STEP[language(context)],
    }


@tool(
    effect="write",
    repeatable=True,  # the key is unique, so a second run finds the first one's ticket
    identifiers=("ticket_no", "order_id"),
    details=("amount",),
    settle=request_opened,
    progress={"zh": "正在提交订单 {order_id} 的售后申请", "en": "opening a request for order {order_id}"},
)
async def aftersale_create(
    context: ToolContext,
    order_id: Annotated[
        str,
        IDENTIFIER,
        Field(
            description="Number of the order in question, such as ABC-20240520-001.",
            min_length=1,
            max_length=40,
        ),
    ],
    issue_desc: Annotated[
        str,
        Field(
            description="What is wrong and what the customer wants (return, exchange, repair, refund), in a "
            "sentence or two, as they said it.",
            min_length=2,
            max_length=1000,
        ),
    ],
    contact: Annotated[
        str,
        DETAIL,
        Field(
            description="Telephone number or e-mail address that the customer has given for this.",
            min_length=5,
            max_length=120,
        ),
    ],
) -> dict[str, Any]:
    """Open an after-sales request (return, exchange, repair, refund, complaint) for an order of the customer. Use it
    once order, problem and contact are known; ask the customer for the contact when they have not given one.
    Requests of larger amounts wait for a colleague's approval. Returns the ticket number."""
    order = await _order(context, order_id)
    if order is None:
        raise no_such_order(order_id)
    if order["status"] in REFUSED:
        raise BusinessError(REFUSED[order["status"]].format(order_id=order["order_id"]))
    await context.database.execute(
        OPEN,
        {
            "day": f"{context.now.astimezone(SHOP_ZONE):%Y%m%d}",
            "order_id": order["order_id"],
            "user_id": context.user_id,
            "issue_desc": issue_desc.strip(),
            "contact": contact.strip(),
            "amount": order["total"],
            "key": context.idempotency_key,
            "now": context.now,
        },
    )
    opened = await request_opened(context.idempotency_key, {}, context)
    assert opened is not None, "the row was inserted above, or an earlier run of the same call had done so"
    await _note_in_progress(context, opened)
    return opened


@tool(
    identifiers=("tickets[].ticket_no", "tickets[].order_id"),
    details=("tickets[].amount",),
    progress={"zh": "正在查询售后进度", "en": "looking up after-sales requests"},
)
async def aftersale_query(
    context: ToolContext,
    ticket_no: Annotated[
        str | None,
        IDENTIFIER,
        Field(description="Ticket number such as AS-20240518-0003; omit it when unknown.", max_length=40),
    ] = None,
    order_id: Annotated[
        str | None,
        IDENTIFIER,
        Field(
            description="Order number, to find the requests about it; omit it when unknown.", max_length=40
        ),
    ] = None,
) -> dict[str, Any]:
    """How the customer's after-sales requests stand: by ticket number, by order, or without either the latest ones,
    newest first. Use it when they ask about a return, refund or complaint that is under way."""
    rows = await context.database.fetch(
        TICKETS,
        {
            "user_id": context.user_id,
            "ticket_no": identifier(ticket_no) if ticket_no else None,
            "order_id": identifier(order_id) if order_id else None,
        },
    )
    if ticket_no and not rows:
        raise BusinessError(
            f"This customer has no ticket {ticket_no}.",
            kind="not_found",
            try_next="Check the number with the customer, or list their requests without ticket_no.",
        )
    return {
        "tickets": [
            {
                "ticket_no": row["ticket_no"],
                "order_id": row["order_id"],
                "status": row["status"],
                "issue_desc": row["issue_desc"],
                "amount": money(row["amount"]),
                "currency": CURRENCY,
                "created_at": local_time(row["created_at"], context),
                "updated_at": local_time(row["updated_at"], context),
            }
            for row in rows
        ],
        "count": rows[0]["tickets"] if rows else 0,
    }


async def _order(context: ToolContext, order_id: str) -> dict[str, Any] | None:
    rows = await context.database.fetch(ORDER, {"user_id": context.user_id, "order_id": identifier(order_id)})
    return rows[0] if rows else None


async def _note_in_progress(context: ToolContext, ticket: dict[str, Any]) -> None:
    """Later conversations know that this is under way, until the business's term has passed."""
    day = f"{context.now.astimezone(ZoneInfo(context.timezone)):%Y-%m-%d}"
    await context.state.put(
        context.user_id,
        f"aftersale:{ticket['order_id']}",
        STATE[language(context)].format(day=day, **ticket),
        expires_at=context.now + IN_PROGRESS,
        domains=("aftersale", "order"),
        now=context.now,
    )
