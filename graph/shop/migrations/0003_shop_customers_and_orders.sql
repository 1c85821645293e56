-- Customers and what they ordered. Everything follows from md5 of a key, so that each database is seeded alike.
-- Times are given in China Standard Time and stored in UTC.

create function pg_temp.dice(key text, sides integer) returns integer language sql immutable as
    $$ select ('x' || substr(md5(key), 1, 7))::bit(28)::integer % sides $$;

create temporary table city (n serial, zh text, en text);
insert into city (zh, en) values
    ('上海', 'Shanghai'), ('北京', 'Beijing'), ('广州', 'Guangzhou'), ('深圳', 'Shenzhen'), ('杭州', 'Hangzhou'),
    ('成都', 'Chengdu'), ('武汉', 'Wuhan'), ('西安', 'Xi''an'), ('南京', 'Nanjing'), ('重庆', 'Chongqing');

insert into shop.customer values
    ('user_123', '李晓雯', 'Li Xiaowen', '13800138123', 'xiaowen.li@example.com', '上海', 'Shanghai',
     timestamptz '2023-08-02 10:00+08');

insert into shop.customer
select
    'user_' || serial,
    (array['王', '李', '张', '刘', '陈', '杨', '赵', '黄', '周', '吴', '徐', '孙'])[1 + pg_temp.dice('family' || serial, 12)]
        || (array['伟', '芳', '娜', '敏', '静', '磊', '洋', '艳', '勇', '杰', '涛', '明', '霞', '秀英', '建国', '子涵', '雨桐', '浩然'])
           [1 + pg_temp.dice('given' || serial, 18)],
    (array['Alice', 'Ben', 'Clara', 'David', 'Emma', 'Frank', 'Grace', 'Henry', 'Ivy', 'Jack', 'Kate', 'Leo'])
           [1 + pg_temp.dice('first' || serial, 12)]
        || ' '
        || (array['Smith', 'Brown', 'Miller', 'Clark', 'Young', 'King', 'Wright', 'Hill', 'Green', 'Baker', 'Carter', 'Evans'])
           [1 + pg_temp.dice('last' || serial, 12)],
    '1390000' || lpad(serial::text, 4, '0'),
    'user' || serial || '@example.com',
    city.zh,
    city.en,
    timestamptz '2023-01-01 09:00+08' + serial * interval '31 hours'
from generate_series(200, 449) as serial
join city on city.n = 1 + pg_temp.dice('city' || serial, 10);

create temporary table draft as
select
    n,
    chr(65 + pg_temp.dice('a' || n, 26)) || chr(65 + pg_temp.dice('b' || n, 26)) || chr(65 + pg_temp.dice('c' || n, 26))
        || '-' || to_char(date '2024-03-01' + n / 5, 'YYYYMMDD') || '-' || lpad((100 + n % 900)::text, 3, '0') as order_id,
    'user_' || (200 + pg_temp.dice('buyer' || n, 250)) as user_id,
    timestamptz '2024-03-01 08:00+08' + (n / 5) * interval '24 hours' + pg_temp.dice('minute' || n, 840) * interval '1 minute'
        as placed_at,
    -- Older orders have run their course; the last days' are on their way.
    case
        when pg_temp.dice('off' || n, 12) = 0 then 'cancelled'
        when n < 330 then (array['completed', 'completed', 'delivered'])[1 + pg_temp.dice('old' || n, 3)]
        when n < 380 then (array['delivered', 'shipped', 'shipped'])[1 + pg_temp.dice('mid' || n, 3)]
        else (array['pending_payment', 'paid', 'packing', 'shipped'])[1 + pg_temp.dice('new' || n, 4)]
    end as status
from generate_series(0, 429) as n;

insert into shop.customer_order
select
    d.order_id,
    d.user_id,
    d.status,
    case d.status when 'pending_payment' then 'unpaid' when 'cancelled' then 'refunded' else 'paid' end,
    case when d.status <> 'pending_payment'
        then (array['alipay', 'wechat_pay', 'card', 'paypal'])[1 + pg_temp.dice('pay' || d.n, 4)] end,
    0,
    case when pg_temp.dice('language' || d.user_id, 2) = 0 then c.name_zh else c.name_en end,
    c.phone,
    case when pg_temp.dice('language' || d.user_id, 2) = 0
        then c.city_zh || '市人民路' || (1 + pg_temp.dice('street' || d.user_id, 400)) || '号'
        else (1 + pg_temp.dice('street' || d.user_id, 400)) || ' Renmin Road, ' || c.city_en
    end,
    d.placed_at,
    d.placed_at + interval '3 hours'
from draft as d
join shop.customer as c using (user_id);

insert into shop.order_item
select d.order_id, line, p.sku, 1 + pg_temp.dice('quantity' || d.n || line, 2), p.price
from draft as d
cross join lateral generate_series(1, 1 + pg_temp.dice('lines' || d.n, 3)) as line
join (select sku, price, row_number() over (order by sku) - 1 as place, count(*) over () as articles from shop.product) as p
    on p.place = pg_temp.dice('article' || d.n || line, p.articles::integer);

-- The orders of the customer whom the documentation follows.
insert into shop.customer_order values
    ('ABC-20240520-001', 'user_123', 'shipped', 'paid', 'alipay', 0, '李晓雯', '13800138123',
     '上海市徐汇区漕溪北路88号', '2024-05-20 09:12+08', '2024-05-22 08:15+08'),
    ('DEF-20240525-002', 'user_123', 'shipped', 'paid', 'wechat_pay', 0, '李晓雯', '13800138123',
     '上海市徐汇区漕溪北路88号', '2024-05-25 20:41+08', '2024-05-27 07:50+08'),
    ('GHI-20240512-003', 'user_123', 'delivered', 'paid', 'card', 0, '李晓雯', '13800138123',
     '上海市徐汇区漕溪北路88号', '2024-05-12 14:03+08', '2024-05-16 11:26+08'),
    ('JKL-20240526-004', 'user_123', 'paid', 'paid', 'alipay', 0, '李晓雯', '13800138123',
     '上海市徐汇区漕溪北路88号', '2024-05-26 22:18+08', '2024-05-26 22:19+08'),
    ('MNO-20240408-005', 'user_123', 'cancelled', 'refunded', 'alipay', 0, '李晓雯', '13800138123',
     '上海市徐汇区漕溪北路88号', '2024-04-08 12:30+08', '2024-04-09 09:00+08'),
    ('PQR-20240501-006', 'user_123', 'completed', 'paid', 'wechat_pay', 0, '李晓雯', '13800138123',
     '上海市徐汇区漕溪北路88号', '2024-05-01 10:45+08', '2024-05-14 10:00+08');

insert into shop.order_item
select line.order_id, line.line, line.sku, line.quantity, p.price
from (values
    ('ABC-20240520-001', 1, 'EAR-BLK', 1),
    ('DEF-20240525-002', 1, 'AIR-WHT', 1), ('DEF-20240525-002', 2, 'KET-WHT', 1),
    ('GHI-20240512-003', 1, 'TEA-BLW', 1),
    ('JKL-20240526-004', 1, 'LMP-WHT', 1),
    ('MNO-20240408-005', 1, 'RUN-38', 1),
    ('PQR-20240501-006', 1, 'YOG-GRN', 1), ('PQR-20240501-006', 2, 'TWL-WHT', 2)
) as line (order_id, line, sku, quantity)
join shop.product as p using (sku);

update shop.customer_order as o
set total = sums.total
from (select order_id, sum(quantity * unit_price) as total from shop.order_item group by order_id) as sums
where sums.order_id = o.order_id;

drop function pg_temp.dice(text, integer);
drop table draft;
drop table city;
