"""The catalogue: finding articles, and the stock of one."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import Field

from graph.shop.tools.reading import CURRENCY, identifier, money
from memory.keywords import terms
from tools.declare import tool
from tools.errors import BusinessError
from tools.spec import ToolContext

# A term in the name counts most, then the category, then the text; what is in stock comes first among equals. A hint
# (weight 1) raises an article that a real term has found, and finds none by itself.
SEARCH = """
SELECT sku, name_zh, name_en, category_zh, category_en, description_zh, description_en, price, stock, score,
       count(*) OVER () AS products
FROM shop.product
CROSS JOIN LATERAL (
    SELECT sum(weight * hit) AS score, max(hit) FILTER (WHERE weight > 1) AS found
    FROM unnest(%(terms)s::text[], %(weights)s::integer[]) AS wanted (term, weight)
    CROSS JOIN LATERAL (
        SELECT CASE
            WHEN position(term IN lower(name_zh || ' ' || name_en)) > 0 THEN 4
            WHEN position(term IN lower(category_zh || ' ' || category_en)) > 0 THEN 2
            WHEN position(term IN lower(description_zh || ' ' || description_en)) > 0 THEN 1
            ELSE 0
        END AS hit
    ) AS compared
) AS fit
WHERE found > 0
ORDER BY score DESC, (stock > 0) DESC, price, sku
LIMIT %(most)s
"""

STOCK = """
SELECT sku, name_zh, name_en, price, stock, restock_on
FROM shop.product
WHERE replace(sku, '-', '') = %(sku)s
"""

MOST_FOUND = 8
_KIND = re.compile(r"(?<=[\u4e00-\u9fff])[\u4e00-\u9fff](?![\u4e00-\u9fff])")


@tool(
    keep=("products[].sku", "products[].name", "products[].price", "products[].currency", "products[].in_stock",
          "products[].description", "count"),
    cache_seconds=60,
    cache_scope="everyone",
    progress={"zh": "正在查找商品", "en": "searching the catalogue"},
)  # fmt: skip
async def product_search(
    context: ToolContext,
    query: Annotated[
        str,
        Field(
            description="Words for the kind of article, its features or its use, Chinese or English, such as "
            "陶瓷杯 or noise-cancelling headphones. No sentence, no order number.",
            min_length=1,
            max_length=200,
        ),
    ],
) -> dict[str, Any]:
    """Search the catalogue by words: articles with SKU, name, price, whether in stock, and a short text (material,
    size, what it contains). Use it for questions about products, prices and recommendations."""
    wanted = _weighted_terms(query)
    rows = await context.database.fetch(
        SEARCH, {"terms": list(wanted), "weights": list(wanted.values()), "most": MOST_FOUND}
    )
    tongue = "zh" if any("\u4e00" <= char <= "\u9fff" for char in query) else "en"
    return {
        "products": [
            {
                "sku": row["sku"],
                "name": row[f"name_{tongue}"],
                "category": row[f"category_{tongue}"],
                "price": money(row["price"]),
                "currency": CURRENCY,
                "in_stock": row["stock"] > 0,
                "description": row[f"description_{tongue}"],
            }
            for row in rows
        ],
        "count": rows[0]["products"] if rows else 0,
    }


def _weighted_terms(query: str) -> dict[str, int]:
    """Search terms with their weight. A Chinese noun ends with its kind (陶瓷杯 is a 杯): that character counts too."""
    weights = dict.fromkeys(terms(query), 2)
    for kind in _KIND.findall(query):
        weights.setdefault(kind, 1)
    return weights


@tool(progress={"zh": "正在查询 {sku} 的库存", "en": "looking up the stock of {sku}"})
async def stock_query(
    context: ToolContext,
    sku: Annotated[
        str,
        Field(description="SKU as product_search returns it, such as CUP-BLW.", min_length=1, max_length=40),
    ],
) -> dict[str, Any]:
    """The stock of one article right now, its price, and the day on which it is expected again when it is sold out.
    Use it when the customer asks whether or how many of an article can be had."""
    rows = await context.database.fetch(STOCK, {"sku": identifier(sku)})
    if not rows:
        raise BusinessError(
            f"There is no article {sku}.", kind="not_found", try_next="Find its SKU with product_search."
        )
    article = rows[0]
    restock_on = article["restock_on"]
    return {
        "sku": article["sku"],
        "name": article["name_zh" if context.locale.lower().startswith("zh") else "name_en"],
        "price": money(article["price"]),
        "currency": CURRENCY,
        "stock": article["stock"],
        "in_stock": article["stock"] > 0,
        "restock_on": restock_on.isoformat() if restock_on else None,
    }
