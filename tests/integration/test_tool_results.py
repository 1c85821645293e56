"""What the model sees of a large result, and how it reads the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memory.database import Database
from memory.tokens import count
from tests.support.tool_calls import Bench, as_any, check_envelope, returning, tool
from tools.calls import Envelope
from tools.envelope import render

ORDERS: Any = [
    {
        "order_id": f"ABC-202405{number % 28 + 1:02}-{number:03}",
        "status": ["paid", "shipped", "done"][number % 3],
        "total": f"{number}.90",
        "created_at": f"2024-05-{number % 28 + 1:02}",
        "note": f"请放在门口 {number}。" * 30,
    }
    for number in range(100)
]


async def read(bench: Bench, **args: Any) -> Envelope:
    envelope = await bench.one("read_result", **args)
    check_envelope(envelope)
    assert count(render(envelope)) <= 600
    return envelope


async def test_a_large_result_is_cut_once_says_what_was_kept_and_keeps_what_matters(
    database: Database,
) -> None:
    bench = Bench(database, [tool("orders", returning({"orders": ORDERS}))])
    envelope = await bench.one("orders")
    text = render(envelope)
    assert count(text) <= 600
    omitted = as_any(envelope["omitted"])
    kept = int(omitted["cut"]["orders"].split()[1])
    assert omitted["cut"]["orders"] == f"first {kept} of 100"
    assert "read_result" in omitted["read"]
    assert kept >= 3
    for order in ORDERS[:kept]:
        for name in ("order_id", "status", "total", "created_at"):
            assert order[name] in text
    (row,) = await bench.rows()
    assert row["result"] == {"orders": ORDERS}
    assert row["ref"] == envelope["ref"]


async def test_every_record_that_was_cut_can_be_read(database: Database) -> None:
    bench = Bench(database, [tool("orders", returning({"orders": ORDERS}))])
    ref = (await bench.one("orders"))["ref"]
    found: list[str] = []
    offset: int | None = 0
    while offset is not None:
        part = as_any((await read(bench, ref=ref, path="orders", offset=offset))["data"])
        assert part["total"] == 100
        found += [order["order_id"] for order in part["items"]]
        offset = part.get("next_offset")
    assert found == [order["order_id"] for order in ORDERS]


async def test_a_part_is_read_by_path_and_condition(database: Database) -> None:
    bench = Bench(database, [tool("orders", returning({"orders": ORDERS}))])
    ref = (await bench.one("orders"))["ref"]
    one = as_any((await read(bench, ref=ref, path="orders[42].order_id"))["data"])
    assert one == {"total": len(ORDERS[42]["order_id"]), "offset": 0, "text": ORDERS[42]["order_id"]}
    total = as_any((await read(bench, ref=ref, path="orders", where="total = 42.90"))["data"])
    assert [order["order_id"] for order in total["items"]] == [ORDERS[42]["order_id"]]
    shipped = as_any((await read(bench, ref=ref, path="orders", where="STATUS~SHIP".lower()))["data"])
    assert shipped["total"] == 33
    ids = as_any((await read(bench, ref=ref, path="orders[].order_id", limit=3))["data"])
    assert ids["items"] == [order["order_id"] for order in ORDERS[:3]]
    assert ids["next_offset"] == 3


async def test_a_long_text_is_read_on_from_where_it_was_cut(database: Database) -> None:
    policy = "".join(f"第{number}条 商品签收七日内可以退货。" for number in range(400))
    bench = Bench(database, [tool("policy", returning({"title": "退货", "text": policy}))])
    envelope = await bench.one("policy")
    assert as_any(envelope["data"])["title"] == "退货"
    assert as_any(envelope["data"])["text"].startswith("第0条")
    read_text, offset = "", 0
    while True:
        part = as_any((await read(bench, ref=envelope["ref"], path="text", offset=offset))["data"])
        read_text += part["text"]
        if "next_offset" not in part:
            break
        offset = part["next_offset"]
    assert read_text == policy


async def test_a_map_of_records_is_read_by_key_and_by_condition(database: Database) -> None:
    variants = {
        str(n): {
            "price": n * 10,
            "options": {"color": "red" if n % 2 else "blue"},
            "about": f"text {n} " * 60,
        }
        for n in range(40)
    }
    bench = Bench(database, [tool("product", returning({"variants": variants}))])
    ref = (await bench.one("product"))["ref"]
    assert as_any((await read(bench, ref=ref, path="variants.7.price"))["data"]) == {"value": 70}
    red = as_any((await read(bench, ref=ref, path="variants", where="options.color=red"))["data"])
    assert red["total"] == 20
    assert red["items"][0]["key"] == "1"


@pytest.mark.parametrize("owner", [{"user_id": "user_12_"}, {"thread_id": "another"}])
async def test_a_result_of_another_user_or_thread_cannot_be_read(
    database: Database, owner: dict[str, str]
) -> None:
    bench = Bench(database, [tool("orders", returning(ORDERS))])
    ref = (await bench.one("orders"))["ref"]
    mine, bench.scope = bench.scope, replace(bench.scope, **as_any(owner))
    assert (await bench.one("read_result", ref=ref))["error_kind"] == "not_found"
    bench.scope = mine
    assert (await bench.one("read_result", ref=ref))["status"] == "ok"


async def test_a_path_that_leads_nowhere_is_told_what_there_is(database: Database) -> None:
    bench = Bench(database, [tool("orders", returning({"orders": ORDERS}))])
    ref = (await bench.one("orders"))["ref"]
    envelope = await bench.one("read_result", ref=ref, path="parcels")
    assert envelope["error_kind"] == "not_found"
    assert "orders" in envelope["error_desc"]


async def test_the_whitelist_depends_on_the_intent_and_the_rest_can_be_read(database: Database) -> None:
    keep = {"logistics": ("tracking",), "*": ("order_id", "total")}
    order = {"order_id": "A-1", "total": "9.90", "tracking": "SF1", "margin": "0.42"}
    bench = Bench(database, [tool("order", returning(order), keep=keep)])
    other = await bench.one("order")
    assert other["data"] == {"order_id": "A-1", "total": "9.90"}
    assert as_any(other["omitted"])["fields"] == ["tracking", "margin"]
    bench.scope = replace(bench.scope, intents=("logistics",))
    assert (await bench.one("order"))["data"] == {"tracking": "SF1"}
    part = as_any((await read(bench, ref=other["ref"], path="margin"))["data"])
    assert part["text"] == "0.42"


async def test_a_small_result_is_given_whole_without_a_reference(database: Database) -> None:
    bench = Bench(database, [tool("order", returning({"order_id": "A-1"}))])
    assert await bench.one("order") == {"status": "ok", "data": {"order_id": "A-1"}}


async def test_a_faithful_digest_is_taken_and_a_false_one_is_not(database: Database) -> None:
    first = {name: ORDERS[0][name] for name in ("order_id", "status", "total", "created_at")}
    answers: list[Any] = [
        {"orders": [first], "orders_in_all": 100},
        {"orders": [{**first, "status": "delivered"}]},
        {"orders": [{"order_id": first["order_id"]}]},
        None,
        RuntimeError("no model"),
        {"note": "字" * 5000},
    ]
    asked: list[tuple[str, str, int]] = []

    async def compactor(name: str, request: str, data: Any, budget: int) -> Any:
        asked.append((name, request, budget))
        if isinstance(answer := answers.pop(0), Exception):
            raise answer
        return answer

    bench = Bench(
        database,
        [tool("orders", returning({"orders": ORDERS}), identifiers=("orders[].order_id",))],
        compactor=compactor,
    )
    bench.scope = replace(bench.scope, grounds=replace(bench.scope.grounds, user_texts=("我的第一个订单呢",)))
    taken = await bench.one("orders")
    assert taken["data"] == {"orders": [first], "orders_in_all": 100}
    assert taken["ref"]
    assert asked[0][:2] == ("orders", "我的第一个订单呢")
    while answers:
        fallback = as_any(await bench.one("orders", x=len(answers)))
        assert "first" in fallback["omitted"]["cut"]["orders"]
        assert count(render(fallback)) <= 600


async def test_what_the_conversion_lost_is_noted(database: Database) -> None:
    bench = Bench(database, [tool("rates", returning({"rate": float("nan"), "n": 1}))])
    envelope = await bench.one("rates")
    assert envelope["data"] == {"rate": None, "n": 1}
    assert "rate" in as_any(envelope["omitted"])["notes"][0]
