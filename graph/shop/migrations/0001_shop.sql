-- The shop's own tables: what a customer can ask about and what the agent may change.

create schema if not exists shop;

create table shop.customer (
    user_id text primary key,
    name_zh text not null,
    name_en text not null,
    phone text not null,
    email text not null,
    city_zh text not null,
    city_en text not null,
    created_at timestamptz not null
);

create table shop.product (
    sku text primary key,
    name_zh text not null,
    name_en text not null,
    category_zh text not null,
    category_en text not null,
    description_zh text not null,
    description_en text not null,
    price numeric(10, 2) not null check (price >= 0),
    stock integer not null check (stock >= 0),
    restock_on date
);

create table shop.customer_order (
    order_id text primary key,
    user_id text not null references shop.customer,
    status text not null check (
        status in ('pending_payment', 'paid', 'packing', 'shipped', 'delivered', 'completed', 'cancelled')
    ),
    payment_status text not null check (payment_status in ('unpaid', 'paid', 'refunding', 'refunded', 'closed')),
    payment_method text check (payment_method in ('alipay', 'wechat_pay', 'card', 'paypal')),
    total numeric(10, 2) not null check (total >= 0),
    recipient text not null,
    phone text not null,
    address text not null,
    placed_at timestamptz not null,
    updated_at timestamptz not null
);

create index customer_order_of_user on shop.customer_order (user_id, placed_at desc);

create table shop.order_item (
    order_id text not null references shop.customer_order,
    line integer not null,
    sku text not null references shop.product,
    quantity integer not null check (quantity > 0),
    unit_price numeric(10, 2) not null,
    primary key (order_id, line)
);

create table shop.parcel (
    tracking_no text primary key,
    order_id text not null references shop.customer_order,
    carrier_zh text not null,
    carrier_en text not null,
    status text not null check (
        status in ('collected', 'in_transit', 'out_for_delivery', 'at_pickup_point', 'delivered', 'returned')
    ),
    shipped_at timestamptz not null,
    expected_on date not null,
    delivered_at timestamptz
);

create index parcel_of_order on shop.parcel (order_id);

create table shop.tracking_event (
    tracking_no text not null references shop.parcel,
    step integer not null,
    happened_at timestamptz not null,
    location_zh text not null,
    location_en text not null,
    event_zh text not null,
    event_en text not null,
    primary key (tracking_no, step)
);

create sequence shop.ticket_serial start 1001;

create table shop.ticket (
    ticket_no text primary key,
    order_id text not null references shop.customer_order,
    user_id text not null references shop.customer,
    status text not null check (
        status in ('open', 'awaiting_return', 'inspecting', 'refunded', 'exchanged', 'rejected', 'closed')
    ),
    issue_desc text not null,
    contact text not null,
    amount numeric(10, 2) not null,
    idempotency_key text unique,
    created_at timestamptz not null,
    updated_at timestamptz not null
);

create index ticket_of_user on shop.ticket (user_id, created_at desc);

-- One row for each change that the agent made to an order; the key keeps a repeated call from changing it twice.
create table shop.order_change (
    idempotency_key text primary key,
    order_id text not null references shop.customer_order,
    action text not null check (action in ('cancel', 'change_address')),
    before jsonb not null,
    after jsonb not null,
    changed_at timestamptz not null
);
