"""What the shop's tools share: how identifiers are read and how rows become results."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from tools.errors import BusinessError
from tools.spec import ToolContext

CURRENCY = "CNY"


def identifier(text: str) -> str:
    """Letters and digits alone, upper case: how order, ticket and tracking numbers are compared.

    >>> identifier("abc-20240520 ００１")
    'ABC20240520001'
    """
    return re.sub(r"[^0-9A-Z]", "", unicodedata.normalize("NFKC", text).upper())


def money(amount: Decimal) -> str:
    """Two decimals, always."""
    return f"{amount:.2f}"


def local_time(moment: datetime | None, context: ToolContext) -> str | None:
    """ISO time to the minute in the customer's zone, offset included."""
    if moment is None:
        return None
    return moment.astimezone(ZoneInfo(context.timezone)).isoformat(timespec="minutes")


def language(context: ToolContext) -> str:
    """`zh` or `en`, whichever the customer reads."""
    return "zh" if context.locale.lower().startswith("zh") else "en"


def no_such_order(order_id: str) -> BusinessError:
    """The same error whether the order does not exist or is somebody else's."""
    return BusinessError(
        f"This customer has no order {order_id}.",
        kind="not_found",
        try_next="Check the number with the customer, or list their orders with order_query without order_id.",
    )
