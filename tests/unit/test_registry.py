"""All tools of a business, checked at start-up, named for the protocol, found again by what the model writes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from tools.declare import from_json_schema
from tools.errors import DeclarationError
from tools.names import is_protocol_name, protocol_names
from tools.registry import ToolRegistry, UnknownTool
from tools.spec import Arguments, ToolContext, ToolSpec


async def never(args: Arguments, context: ToolContext) -> None:
    raise AssertionError("not run in these tests")


def spec(name: str, description: str = "A tool.", **properties: Any) -> ToolSpec:
    return from_json_schema(name, description, {"properties": properties}, never)


@pytest.mark.parametrize(
    ("specs", "fault"),
    [
        ([spec("a", "")], r"'a'.*no description"),
        ([spec("a", x={"type": "string"})], r"'a'.*undocumented arguments: 'x'"),
        ([spec("a"), spec("a")], r"'a'.*same name"),
        ([spec(" ")], "no name"),
    ],
)
def test_what_would_confuse_a_model_is_refused_at_start(specs: list[ToolSpec], fault: str) -> None:
    with pytest.raises(DeclarationError, match=fault):
        ToolRegistry(specs)


def test_a_brought_tool_with_a_fault_is_left_out_with_a_warning() -> None:
    with capture_logs() as logs:
        registry = ToolRegistry([spec("a")], [spec("a"), spec("b", ""), spec("c")])
    assert [each.name for each in registry] == ["a", "c"]
    assert [(each["tool"], each["log_level"]) for each in logs] == [("a", "warning"), ("b", "warning")]


def test_names_are_mapped_to_the_protocol_and_back() -> None:
    registry = ToolRegistry([spec("shop.order"), spec("shop_order"), spec("查询订单"), spec("x" * 80)])
    shown = [schema["function"]["name"] for schema in registry.schemas(registry.business_names)]
    assert shown[1] == "shop_order"
    assert all(map(is_protocol_name, shown))
    assert [found.name for name in shown if (found := registry.get(name))] == list(registry.business_names)


@given(st.sets(st.text(min_size=1, max_size=90), max_size=12))
def test_protocol_names_never_collide_and_do_not_depend_on_the_order(names: set[str]) -> None:
    mapped = protocol_names(names)
    assert all(map(is_protocol_name, mapped.values()))
    assert len(set(mapped.values())) == len(names)
    assert protocol_names(sorted(names, reverse=True)) == mapped
    assert all(mapped[name] == name for name in names if is_protocol_name(name))


def test_schemas_come_in_the_order_of_declaration_and_always_the_same_bytes() -> None:
    tools = [spec("b", x={"type": "integer", "description": "X.", "default": 1}), spec("a")]
    first, second = ToolRegistry(tools), ToolRegistry(tools)
    assert json.dumps(first.schemas(["a", "b"])) == json.dumps(second.schemas(["b", "a", "nowhere"]))
    assert first.schemas(["a", "b"])[0] == {
        "type": "function",
        "function": {
            "name": "b",
            "description": "A tool.",
            "parameters": {
                "type": "object",
                "properties": {"x": {"type": "integer", "description": "X.", "default": 1}},
                "additionalProperties": False,
            },
        },
    }


def test_with_strict_a_schema_goes_with_the_flag_where_it_can() -> None:
    free = {"type": "object", "additionalProperties": {"type": "string"}, "description": "Free."}
    registry = ToolRegistry([spec("a", x={"type": "integer", "description": "X."}), spec("b", y=free)])
    closed, open_ended = (schema["function"] for schema in registry.schemas(["a", "b"], strict=True))
    assert closed["strict"] is True
    assert closed["parameters"]["required"] == ["x"]
    assert "strict" not in open_ended


REGISTRY = ToolRegistry([spec("order_query"), spec("stock_query"), spec("Billing.refund")])
OFFERED = ["order_query", "stock_query", "Billing.refund"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("order_query", "order_query"),
        ("functions.order_query", "order_query"),
        ('order_query" />', "order_query"),
        ("Shop.order_query", "order_query"),
        ("functions.order_query:0", "order_query"),
        ("order_query<|channel|>commentary", "order_query"),
        ("OrderQuery", "order_query"),
        ("order-query", "order_query"),
        ("order_queryorder_query", "order_query"),
        ("Billing_refund", "Billing.refund"),
        ("functions.Billing.refund", "Billing.refund"),
        ("refund", "Billing.refund"),
    ],
)
def test_a_decorated_name_means_the_one_offered_tool_that_fits(written: str, meant: str) -> None:
    found = REGISTRY.resolve(written, OFFERED)
    assert isinstance(found, ToolSpec)
    assert found.name == meant


@pytest.mark.parametrize(
    "written", ["order_query and stock_query", "query", "order", "", "订单", "Store.refund"]
)
def test_a_name_that_fits_none_or_several_is_an_error(written: str) -> None:
    assert isinstance(REGISTRY.resolve(written, OFFERED), UnknownTool)


def test_a_tool_that_is_not_offered_is_unknown() -> None:
    assert isinstance(REGISTRY.resolve("order_query", ["stock_query"]), UnknownTool)


def test_the_error_names_the_nearest_tools_and_all_that_can_be_called() -> None:
    error = REGISTRY.resolve("orders_query", OFFERED)
    assert isinstance(error, UnknownTool)
    assert error.nearest[0] == "order_query"
    assert "Did you mean order_query" in error.text
    assert "Billing_refund" in error.text


def test_tools_of_a_server_join_later_and_replace_what_it_brought_before() -> None:
    registry = ToolRegistry([spec("a")])
    registry.bring("crm", [spec("crm__find"), spec("crm__old")])
    registry.bring("bank", [spec("bank__pay")])
    registry.bring("crm", [spec("crm__find", "Now said better."), spec("a", "Not the business's.")])
    assert [each.name for each in registry] == ["a", "bank__pay", "crm__find"]
    assert [schema["function"]["description"] for schema in registry.schemas(["a", "crm__find"])] == [
        "A tool.",
        "Now said better.",
    ]
    assert registry.brought_by("crm") == ("crm__find",)


def test_the_order_of_servers_tools_does_not_depend_on_who_was_reached_first() -> None:
    first, second = ToolRegistry([spec("a")]), ToolRegistry([spec("a")])
    sources = {"crm": [spec("crm__find")], "bank": [spec("bank__pay")]}
    for name, specs in sources.items():
        first.bring(name, specs)
    for name, specs in reversed(sources.items()):
        second.bring(name, specs)
    assert [each.name for each in first] == [each.name for each in second]


def test_a_tool_asks_all_intents_or_some_to_offer_it() -> None:
    everywhere = from_json_schema("x", "A tool.", {}, never, intents=("*",))
    orders = from_json_schema("y", "A tool.", {}, never, intents=("order",))
    registry = ToolRegistry([spec("a")], [everywhere, orders])
    assert registry.offered_by("order") == ("x", "y")
    assert registry.offered_by("chat") == ("x",)
