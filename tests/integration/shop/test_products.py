"""The catalogue: search in two languages, stock of one article."""

from __future__ import annotations

from typing import Any

import pytest

from memory.database import Database
from tests.support.shop import TOOLS, context_for
from tools.errors import BusinessError


async def search(database: Database, query: str) -> list[dict[str, Any]]:
    found = await TOOLS["product_search"].run({"query": query}, context_for(database))
    return list(found["products"])


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("陶瓷杯", "陶瓷马克杯"),
        ("蓝牙耳机", "无线蓝牙耳机"),
        ("noise-cancelling headphones", "noise-cancelling headphones"),
        ("mugs", "ceramic mug"),
        ("不含坚果的饼干", "无坚果燕麦饼干"),
        ("backpack for a laptop", "light backpack"),
        ("适合油皮的防晒", "清爽防晒霜"),
    ],
)
async def test_the_best_match_comes_first_in_the_language_of_the_query(
    database: Database, query: str, name: str
) -> None:
    assert (await search(database, query))[0]["name"].startswith(name)


async def test_prices_have_two_decimals_and_texts_say_what_is_inside(database: Database) -> None:
    granola = (await search(database, "granola"))[0]
    assert granola["price"] == "59.00"
    assert "peanuts" in granola["description"]


@pytest.mark.parametrize("query", ["量子发动机", "xyzzy", "的", "%"])
async def test_nothing_is_found_where_nothing_fits(database: Database, query: str) -> None:
    assert await search(database, query) == []


async def test_the_result_follows_from_the_query_alone_so_that_it_may_be_cached_for_everyone(
    database: Database,
) -> None:
    run = TOOLS["product_search"].run
    one = await run({"query": "陶瓷杯"}, context_for(database, "user_123", locale="zh"))
    other = await run({"query": "陶瓷杯"}, context_for(database, "user_200", locale="en"))
    assert one == other


async def test_stock_says_how_many_there_are_and_when_more_are_expected(database: Database) -> None:
    rows = await database.fetch("SELECT sku, stock FROM shop.product ORDER BY stock LIMIT 1")
    assert rows[0]["stock"] == 0, "the seed has articles that are sold out"
    sold_out = await TOOLS["stock_query"].run({"sku": rows[0]["sku"].lower()}, context_for(database))
    assert (sold_out["in_stock"], sold_out["stock"]) == (False, 0)
    assert sold_out["restock_on"].startswith("2024-")


async def test_an_unknown_article_is_not_found(database: Database) -> None:
    with pytest.raises(BusinessError) as caught:
        await TOOLS["stock_query"].run({"sku": "NO-SUCH"}, context_for(database))
    assert caught.value.kind == "not_found"
