"""The seeded shop: enough of everything, consistent, and the same in each database."""

from __future__ import annotations

import pytest

from memory.database import Database


@pytest.mark.parametrize(
    "table", ["customer", "product", "customer_order", "order_item", "parcel", "tracking_event", "ticket"]
)
async def test_there_are_more_than_a_hundred_of_each(database: Database, table: str) -> None:
    rows = await database.fetch(
        "SELECT (xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM shop.%%I', %s::text), "
        "false, true, '')))[1]::text::int AS n",
        (table,),
    )
    assert rows[0]["n"] > 100


async def test_totals_are_the_sum_of_the_articles(database: Database) -> None:
    rows = await database.fetch("""
        SELECT order_id FROM shop.customer_order AS o
        WHERE total <> (SELECT sum(quantity * unit_price) FROM shop.order_item AS i WHERE i.order_id = o.order_id)
    """)
    assert rows == []


async def test_what_was_sent_has_a_parcel_and_what_was_not_has_none(database: Database) -> None:
    rows = await database.fetch("""
        SELECT order_id FROM shop.customer_order AS o
        WHERE (status IN ('shipped', 'delivered', 'completed'))
           <> EXISTS (SELECT FROM shop.parcel AS p WHERE p.order_id = o.order_id)
    """)
    assert rows == []


async def test_delivered_orders_have_delivered_parcels_and_others_do_not(database: Database) -> None:
    rows = await database.fetch("""
        SELECT order_id FROM shop.customer_order AS o JOIN shop.parcel AS p USING (order_id)
        WHERE (o.status IN ('delivered', 'completed')) <> (p.status = 'delivered')
           OR (p.delivered_at IS NOT NULL) <> (p.status = 'delivered')
    """)
    assert rows == []


async def test_the_first_and_last_seeded_rows_are_always_the_same(database: Database) -> None:
    rows = await database.fetch("""
        SELECT md5(string_agg(order_id || user_id || status || total || placed_at, ',' ORDER BY order_id)) AS seed
        FROM (SELECT order_id, user_id, status, total, extract(epoch FROM placed_at)::bigint AS placed_at
              FROM shop.customer_order) AS o
    """)
    assert rows[0]["seed"] == "SEED"
