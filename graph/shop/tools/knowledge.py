"""Searching the shop's documents."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from tools.declare import tool
from tools.errors import TransientError
from tools.spec import ToolContext

MOST_PASSAGES = 3


@tool(
    cache_seconds=300,
    cache_scope="everyone",
    progress={"zh": "正在查阅店铺规则", "en": "reading the shop's documents"},
)
async def knowledge_search(
    context: ToolContext,
    query: Annotated[
        str,
        Field(
            description="The question in a few words, in the customer's language, such as 退货运费谁出 or delivery "
            "to Canada.",
            min_length=1,
            max_length=200,
        ),
    ],
) -> dict[str, Any]:
    """Search the shop's documents: returns, delivery, invoices, payment, account and membership, warranty, privacy,
    contact. Use it for any question about rules, times, costs or procedures. Each passage names its document: name it
    in the answer."""
    if context.knowledge is None:
        raise TransientError("No knowledge base is attached to the tool engine; build the engine with one.")
    passages = await context.knowledge.search(query, MOST_PASSAGES)
    return {
        "passages": [
            {"source": passage.source, "title": passage.title, "text": passage.text} for passage in passages
        ]
    }
