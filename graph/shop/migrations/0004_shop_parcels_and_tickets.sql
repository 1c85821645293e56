-- Parcels with their way through the network, and tickets of earlier complaints.

create function pg_temp.dice(key text, sides integer) returns integer language sql immutable as
    $$ select ('x' || substr(md5(key), 1, 7))::bit(28)::integer % sides $$;

insert into shop.parcel values
    ('SF1234567890', 'ABC-20240520-001', '顺丰速运', 'SF Express', 'in_transit', '2024-05-20 18:40+08', '2024-05-24', null),
    ('SF1234567891', 'DEF-20240525-002', '顺丰速运', 'SF Express', 'out_for_delivery', '2024-05-26 10:05+08', '2024-05-27', null),
    ('YT8800112233', 'GHI-20240512-003', '圆通速递', 'YTO Express', 'delivered', '2024-05-13 09:30+08', '2024-05-16',
     '2024-05-16 11:26+08'),
    ('ZT7300445566', 'PQR-20240501-006', '中通快递', 'ZTO Express', 'delivered', '2024-05-02 15:10+08', '2024-05-05',
     '2024-05-05 18:02+08');

insert into shop.tracking_event values
    ('SF1234567890', 1, '2024-05-20 18:40+08', '深圳南山营业点', 'Shenzhen Nanshan branch', '已揽收', 'collected'),
    ('SF1234567890', 2, '2024-05-21 01:22+08', '广州转运中心', 'Guangzhou transit centre', '已到达', 'arrived'),
    ('SF1234567890', 3, '2024-05-21 03:05+08', '广州转运中心', 'Guangzhou transit centre', '已发往上海', 'left for Shanghai'),
    ('SF1234567890', 4, '2024-05-22 08:15+08', '上海转运中心', 'Shanghai transit centre', '已到达', 'arrived'),
    ('SF1234567891', 1, '2024-05-26 10:05+08', '杭州余杭营业点', 'Hangzhou Yuhang branch', '已揽收', 'collected'),
    ('SF1234567891', 2, '2024-05-26 21:47+08', '上海转运中心', 'Shanghai transit centre', '已到达', 'arrived'),
    ('SF1234567891', 3, '2024-05-27 07:50+08', '上海徐汇营业点', 'Shanghai Xuhui branch', '派送中', 'out for delivery'),
    ('YT8800112233', 1, '2024-05-13 09:30+08', '景德镇营业点', 'Jingdezhen branch', '已揽收', 'collected'),
    ('YT8800112233', 2, '2024-05-15 02:10+08', '上海转运中心', 'Shanghai transit centre', '已到达', 'arrived'),
    ('YT8800112233', 3, '2024-05-16 08:20+08', '上海徐汇营业点', 'Shanghai Xuhui branch', '派送中', 'out for delivery'),
    ('YT8800112233', 4, '2024-05-16 11:26+08', '上海徐汇营业点', 'Shanghai Xuhui branch', '已签收', 'delivered and signed for'),
    ('ZT7300445566', 1, '2024-05-02 15:10+08', '宁波营业点', 'Ningbo branch', '已揽收', 'collected'),
    ('ZT7300445566', 2, '2024-05-05 18:02+08', '上海徐汇营业点', 'Shanghai Xuhui branch', '已签收', 'delivered and signed for');

create temporary table shipped as
select
    o.order_id,
    o.placed_at + interval '24 hours' as shipped_at,
    carrier.prefix || lpad((2000000000 + pg_temp.dice('track' || o.order_id, 200000000) * 9::bigint)::text, 10, '0') as tracking_no,
    carrier.zh,
    carrier.en,
    case
        when o.status in ('delivered', 'completed') then 'delivered'
        else (array['collected', 'in_transit', 'in_transit', 'out_for_delivery', 'at_pickup_point'])
             [1 + pg_temp.dice('way' || o.order_id, 5)]
    end as status,
    from_city.zh as from_zh,
    from_city.en as from_en,
    c.city_zh as to_zh,
    c.city_en as to_en
from shop.customer_order as o
join shop.customer as c using (user_id)
join (values (0, 'SF', '顺丰速运', 'SF Express'), (1, 'YT', '圆通速递', 'YTO Express'), (2, 'ZT', '中通快递', 'ZTO Express'))
    as carrier (n, prefix, zh, en) on carrier.n = pg_temp.dice('carrier' || o.order_id, 3)
join (values (0, '深圳', 'Shenzhen'), (1, '义乌', 'Yiwu'), (2, '青岛', 'Qingdao')) as from_city (n, zh, en)
    on from_city.n = pg_temp.dice('from' || o.order_id, 3)
where o.status in ('shipped', 'delivered', 'completed') and o.user_id <> 'user_123';

insert into shop.parcel
select
    tracking_no, order_id, zh, en, status, shipped_at, ((shipped_at + interval '96 hours') at time zone 'Asia/Shanghai')::date,
    case when status = 'delivered' then shipped_at + interval '76 hours' end
from shipped;

-- The steps that each state has behind it, hours after the parcel was collected.
insert into shop.tracking_event
select
    s.tracking_no, step.n, s.shipped_at + step.hours * interval '1 hour',
    replace(replace(step.place_zh, '{from}', s.from_zh), '{to}', s.to_zh),
    replace(replace(step.place_en, '{from}', s.from_en), '{to}', s.to_en),
    step.event_zh,
    step.event_en
from shipped as s
join (values
    (1, 0, 1, '{from}营业点', '{from} branch', '已揽收', 'collected'),
    (2, 9, 2, '{from}转运中心', '{from} transit centre', '已到达', 'arrived'),
    (3, 12, 2, '{from}转运中心', '{from} transit centre', '已发出', 'left'),
    (4, 44, 2, '{to}转运中心', '{to} transit centre', '已到达', 'arrived'),
    (5, 70, 3, '{to}营业点', '{to} branch', '派送中', 'out for delivery')
) as step (n, hours, stage, place_zh, place_en, event_zh, event_en)
    on step.stage <= case s.status when 'collected' then 1 when 'in_transit' then 2 else 3 end
union all
select
    tracking_no, 6, shipped_at + interval '76 hours',
    to_zh || case status when 'delivered' then '营业点' else '驿站' end,
    to_en || case status when 'delivered' then ' branch' else ' pick-up point' end,
    case status when 'delivered' then '已签收' else '已到驿站，待取件' end,
    case status when 'delivered' then 'delivered and signed for' else 'waiting to be collected' end
from shipped
where status in ('delivered', 'at_pickup_point');

insert into shop.ticket
select
    'AS-' || to_char((o.placed_at + interval '192 hours') at time zone 'Asia/Shanghai', 'YYYYMMDD') || '-'
        || lpad(row_number() over (order by o.placed_at, o.order_id)::text, 4, '0'),
    o.order_id,
    o.user_id,
    (array['open', 'awaiting_return', 'inspecting', 'refunded', 'exchanged', 'rejected', 'closed'])
        [1 + pg_temp.dice('ticket' || o.order_id, 7)],
    (array['收到时外包装破损，商品有裂痕', 'The colour differs from the picture', '尺码偏小，想换大一号',
           'It stopped working after two days', '少发了一件配件', 'I received the wrong item'])
        [1 + pg_temp.dice('issue' || o.order_id, 6)],
    o.phone,
    o.total,
    null,
    o.placed_at + interval '192 hours',
    o.placed_at + interval '240 hours'
from shop.customer_order as o
where o.status in ('delivered', 'completed') and o.user_id <> 'user_123' and pg_temp.dice('trouble' || o.order_id, 2) = 0;

insert into shop.ticket values
    ('AS-20240508-0900', 'PQR-20240501-006', 'user_123', 'refunded', '毛巾少发一条', '13800138123', 35.00, null,
     '2024-05-08 10:20+08', '2024-05-10 16:00+08');

drop function pg_temp.dice(text, integer);
drop table shipped;
