"""The seeded shop: enough of everything, consistent, and the same in each database."""

from __future__ import annotations

from psycopg import AsyncConnection

from graph.shop.texts import FOLDER
from memory.database import Database

FINGERPRINT = """
SELECT
    (SELECT md5(string_agg(order_id || user_id || status || total || extract(epoch FROM placed_at), ','
                           ORDER BY order_id COLLATE "C")) FROM shop.customer_order) AS orders,
    (SELECT md5(string_agg(tracking_no || expected_on || extract(epoch FROM shipped_at), ','
                           ORDER BY tracking_no COLLATE "C")) FROM shop.parcel) AS parcels,
    (SELECT md5(string_agg(ticket_no || order_id || status, ',' ORDER BY ticket_no COLLATE "C"))
     FROM shop.ticket) AS tickets
"""


async def test_there_are_more_than_a_hundred_of_each(database: Database) -> None:
    rows = await database.fetch("""
        SELECT (SELECT count(*) FROM shop.customer) AS customers,
               (SELECT count(*) FROM shop.product) AS products,
               (SELECT count(*) FROM shop.customer_order) AS orders,
               (SELECT count(*) FROM shop.order_item) AS items,
               (SELECT count(*) FROM shop.parcel) AS parcels,
               (SELECT count(*) FROM shop.tracking_event) AS events,
               (SELECT count(*) FROM shop.ticket) AS tickets
    """)
    assert min(rows[0].values()) > 100


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


async def test_the_seed_does_not_depend_on_the_servers_time_zone(
    database: Database, empty_database_url: str
) -> None:
    async with await AsyncConnection.connect(empty_database_url, autocommit=True) as connection:
        await connection.execute("SET timezone = 'America/New_York'")
        for path in sorted((FOLDER / "migrations").glob("*.sql")):
            await connection.execute(path.read_bytes())
        cursor = await connection.execute(FINGERPRINT)
        elsewhere = await cursor.fetchone()
    here = await database.fetch(FINGERPRINT)
    assert elsewhere == tuple(here[0].values())
