"""All tools of the shop, as the settings make them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from graph.shop.tools.aftersale import aftersale_create, aftersale_query, staff_above
from graph.shop.tools.logistics import logistics_query
from graph.shop.tools.order_changes import order_update
from graph.shop.tools.orders import order_query
from graph.shop.tools.products import product_search, stock_query
from nodes.settings import NodeSettings
from tools.handoff import handoff_to_human
from tools.knowledge_search import knowledge_search
from tools.spec import ToolSpec

DOCUMENTS = "returns, delivery, invoices, payment, account and membership, warranty, privacy, contact"


def shop_tools(settings: NodeSettings) -> Sequence[ToolSpec]:
    """The registry's content; the amount from which staff approve comes from the settings."""
    limit = Decimal(str(settings.steward_approval_amount))
    return (
        order_query,
        order_update,
        logistics_query,
        replace(aftersale_create, approval=staff_above(limit)),
        aftersale_query,
        product_search,
        stock_query,
        knowledge_search(DOCUMENTS),
        handoff_to_human,
    )
