-- A customer with a hundred orders, each with an article and a ticket.

INSERT INTO shop.customer
VALUES ('wholesale', '批发客户', 'Wholesale', '13800000001', 'wholesale@example.com', '上海', 'Shanghai', '2024-01-02 10:00+08');

INSERT INTO shop.customer_order
SELECT 'WHS-202403' || lpad((1 + n / 5)::text, 2, '0') || '-' || lpad(n::text, 3, '0'), 'wholesale',
       (ARRAY['paid', 'packing', 'shipped', 'delivered', 'completed'])[1 + n % 5], 'paid', 'card',
       20 + n * 7.35, 'Receiving desk ' || n, '13800000001', n || ' Harbour Road, Pudong, Shanghai',
       timestamptz '2024-03-01 09:00+08' + n * interval '5 hours', timestamptz '2024-04-20 09:00+08'
FROM generate_series(1, 100) AS n;

INSERT INTO shop.order_item
SELECT o.order_id, 1, p.sku, 2, o.total / 2
FROM (SELECT order_id, total, row_number() OVER (ORDER BY order_id) % 20 AS place
      FROM shop.customer_order WHERE user_id = 'wholesale') AS o
JOIN (SELECT sku, row_number() OVER (ORDER BY sku) - 1 AS place FROM shop.product) AS p USING (place);

INSERT INTO shop.ticket (ticket_no, order_id, user_id, status, issue_desc, contact, amount, idempotency_key, created_at, updated_at)
SELECT 'BULK-' || row_number() OVER (ORDER BY order_id), order_id, 'wholesale', 'open',
       'Two pieces of the delivery to the harbour warehouse arrived scratched; the customer asks for a replacement.',
       'wholesale@example.com', total, NULL, placed_at + interval '9 days', placed_at + interval '9 days'
FROM shop.customer_order WHERE user_id = 'wholesale';
