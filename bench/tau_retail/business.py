"""The sixteen tools as the benchmark declares them, and the business that offers them all."""

from __future__ import annotations

import ast
import operator
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from bench.tau_retail import rules
from bench.tau_retail.store import Document, lock, read, write
from memory.database import Connection
from nodes.business import Business, Intent
from tools.declare import from_json_schema
from tools.errors import BusinessError
from tools.spec import Arguments, ToolContext, ToolSpec

Change = Callable[[Connection, Document, Arguments], Awaitable[None]]
ADDRESS = ("address1", "address2", "city", "state", "country", "zip")
WRITES = ("cancel_", "exchange_", "modify_", "return_")
FIND_BY_EMAIL = "SELECT id FROM retail.record WHERE kind = 'users' AND body->>'email' = %s"
FIND_BY_NAME = """
SELECT id FROM retail.record WHERE kind = 'users' AND lower(body->'name'->>'first_name') = lower(%s)
AND lower(body->'name'->>'last_name') = lower(%s) AND body->'address'->>'zip' = %s
"""
PRODUCT_TYPES = "SELECT body->>'name' AS name, id FROM retail.record WHERE kind = 'products' ORDER BY 1"


def retail(schemas: list[Document], policy: str) -> Business:
    """The business of the data set: one intent, every tool on offer."""
    specs = [_spec(schema["function"]) for schema in schemas]
    names = tuple(spec.name for spec in specs)
    return Business(
        name="retail",
        instructions=policy,
        intents=[Intent("chat", "Everything.", tools=names)],
        tools=lambda settings: specs,
        migrations=Path(__file__).parent / "migrations",
    )


def _spec(function: Document) -> ToolSpec:
    name = function["name"]
    effect = "write" if name.startswith(WRITES) else "read"
    return from_json_schema(
        name, function["description"], function["parameters"], RUNNERS[name], effect=effect
    )


async def _find_by_email(args: Arguments, context: ToolContext) -> str:
    return await _user_id(context, FIND_BY_EMAIL, (args["email"],))


async def _find_by_name(args: Arguments, context: ToolContext) -> str:
    return await _user_id(context, FIND_BY_NAME, (args["first_name"], args["last_name"], args["zip"]))


async def _user_id(context: ToolContext, query: str, params: tuple[Any, ...]) -> str:
    row = await context.database.fetch_one(query, params)
    if row is None:
        raise BusinessError("user not found", kind="not_found")
    return str(row["id"])


def _details(kind: str, argument: str) -> Callable[[Arguments, ToolContext], Awaitable[Document]]:
    async def run(args: Arguments, context: ToolContext) -> Document:
        found = await read(context.database, kind, str(args[argument]))
        if found is None:
            raise BusinessError(f"{argument.removesuffix('_id')} not found", kind="not_found")
        return found

    return run


async def _product_types(args: Arguments, context: ToolContext) -> Document:
    return {row["name"]: row["id"] for row in await context.database.fetch(PRODUCT_TYPES)}


async def _think(args: Arguments, context: ToolContext) -> str:
    return ""


async def _transfer(args: Arguments, context: ToolContext) -> str:
    return "Transfer successful"


async def _calculate(args: Arguments, context: ToolContext) -> str:
    return str(round(_value(ast.parse(str(args["expression"]), mode="eval").body), 2))


_OPERATORS: Mapping[type, Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
}


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.operand))
    raise BusinessError("only numbers, + - * / and parentheses can be calculated")


def _on_order(change: Change) -> Callable[[Arguments, ToolContext], Awaitable[Document]]:
    """A write tool: the order and its owner change together, under lock, or not at all."""

    async def run(args: Arguments, context: ToolContext) -> Document:
        order_id = str(args["order_id"])
        async with context.database.transaction() as connection:
            order = await lock(connection, "orders", order_id)
            if order is None:
                raise BusinessError("order not found", kind="not_found")
            await change(connection, order, args)
            await write(connection, "orders", order_id, order)
        return order

    return run


def _with_owner(rule: Callable[..., None], *names: str, variants: bool = False) -> Change:
    async def change(connection: Connection, order: Document, args: Arguments) -> None:
        user_id = order["user_id"]
        user = await lock(connection, "users", user_id)
        assert user is not None, "every order has an owner"
        found = [await _variants(connection, order)] if variants else []
        rule(order, user, *found, *(args[name] for name in names))
        await write(connection, "users", user_id, user)

    return change


async def _variants(connection: Connection, order: Document) -> dict[str, Document]:
    """Every variant of the products in the order, by item id."""
    found: dict[str, Document] = {}
    for product_id in {item["product_id"] for item in order["items"]}:
        product = await lock(connection, "products", product_id)
        for id, variant in (product or {"variants": {}})["variants"].items():
            found[id] = {**variant, "product_id": product_id}
    return found


async def _order_address(connection: Connection, order: Document, args: Arguments) -> None:
    rules.modify_address(order, {name: args[name] for name in ADDRESS})


async def _user_address(args: Arguments, context: ToolContext) -> Document:
    async with context.database.transaction() as connection:
        user = await lock(connection, "users", str(args["user_id"]))
        if user is None:
            raise BusinessError("user not found", kind="not_found")
        user["address"] = {name: args[name] for name in ADDRESS}
        await write(connection, "users", str(args["user_id"]), user)
    return user


_ITEMS = ("item_ids", "new_item_ids", "payment_method_id")

RUNNERS: Mapping[str, Callable[[Arguments, ToolContext], Awaitable[Any]]] = {
    "calculate": _calculate,
    "find_user_id_by_email": _find_by_email,
    "find_user_id_by_name_zip": _find_by_name,
    "get_order_details": _details("orders", "order_id"),
    "get_product_details": _details("products", "product_id"),
    "get_user_details": _details("users", "user_id"),
    "list_all_product_types": _product_types,
    "think": _think,
    "transfer_to_human_agents": _transfer,
    "modify_user_address": _user_address,
    "cancel_pending_order": _on_order(_with_owner(rules.cancel, "reason")),
    "return_delivered_order_items": _on_order(_with_owner(rules.give_back, "item_ids", "payment_method_id")),
    "exchange_delivered_order_items": _on_order(_with_owner(rules.exchange, *_ITEMS, variants=True)),
    "modify_pending_order_items": _on_order(_with_owner(rules.modify_items, *_ITEMS, variants=True)),
    "modify_pending_order_payment": _on_order(_with_owner(rules.modify_payment, "payment_method_id")),
    "modify_pending_order_address": _on_order(_order_address),
}
