"""`knowledge_search`, ready to be declared by any business that has documents (T15)."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from tools.declare import tool
from tools.errors import TransientError
from tools.spec import ToolContext, ToolSpec

MOST_PASSAGES = 3


def knowledge_search(about: str) -> ToolSpec:
    """The tool over a business's documents; `about` says what they tell, for the model.

    knowledge_search("returns, delivery, invoices, payment")
    """
    return replace(
        _search,
        description=f"Search the documents of this business: {about}. Use it for any question about rules, times, "
        "costs or procedures. Each passage names its document: name it in the answer.",
    )


@tool(
    name="knowledge_search",
    cache_seconds=300,
    cache_scope="everyone",
    progress={"zh": "正在查阅资料", "en": "reading the documents"},
)
async def _search(
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
    """Search the documents of this business."""
    if context.knowledge is None:
        raise TransientError("No knowledge base is attached to the tool engine; build the engine with one.")
    passages = await context.knowledge.search(query, MOST_PASSAGES)
    return {
        "passages": [
            {"source": passage.source, "title": passage.title, "text": passage.text} for passage in passages
        ]
    }
