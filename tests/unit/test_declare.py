"""A tool is declared once, as a typed function or a JSON Schema."""

from __future__ import annotations

import threading
from datetime import UTC, date, datetime
from enum import Enum
from typing import Annotated, Any, Literal, cast

import pytest
from pydantic import AfterValidator, BaseModel, Field

from tools.arguments import check_arguments
from tools.declare import DETAIL, IDENTIFIER, from_json_schema, tool
from tools.errors import DeclarationError
from tools.spec import Arguments, ToolContext
from tools.validate import Rejected, Validated


class Wish(Enum):
    REFUND = "refund"
    REPAIR = "repair"


class Item(BaseModel):
    sku: Annotated[str, IDENTIFIER, Field(description="Product code.")]
    amount: Annotated[int, Field(description="How many.", ge=1)] = 1


def _even(number: int) -> int:
    if number % 2:
        raise ValueError("must be even")
    return number


@tool(effect="write", progress={"en": "opening a ticket for {order_id}"})
async def open_ticket(
    context: ToolContext,
    order_id: Annotated[str, IDENTIFIER, Field(description="Order number.", pattern="^[A-Z]+-[0-9]+$")],
    wish: Annotated[Wish, Field(description="What is wanted.")],
    items: Annotated[list[Item], Field(description="What it is about.")],
    contact: Annotated[str | None, DETAIL, Field(description="Mobile or e-mail.")] = None,
    pick_up: Annotated[date | None, Field(description="Day of pick-up.")] = None,
    schema: Annotated[Literal["a", "b"], Field(description="A name that pydantic uses itself.")] = "a",
    copies: Annotated[int, AfterValidator(_even), Field(description="An even number.")] = 2,
) -> dict[str, Any]:
    """Open an after-sales ticket.

    Use it when something is broken.
    """
    return {"user": context.user_id, "wish": wish, "items": items, "pick_up": pick_up, "schema": schema}


def context() -> ToolContext:
    nothing = cast(Any, None)
    now = datetime(2024, 5, 20, tzinfo=UTC)
    return ToolContext("u1", "en", "UTC", now, "thread", "turn", "call", "key", nothing, nothing)


async def never(args: Arguments, context: ToolContext) -> None:
    raise AssertionError("not run in these tests")


def test_the_docstring_is_the_description() -> None:
    assert open_ticket.description == "Open an after-sales ticket.\n\nUse it when something is broken."


def test_the_schema_is_strict_at_every_level_and_shows_enums_defaults_and_documentation() -> None:
    properties = open_ticket.parameters["properties"]
    assert open_ticket.parameters["additionalProperties"] is False
    assert open_ticket.parameters["required"] == ["order_id", "wish", "items"]
    assert "context" not in properties
    assert properties["wish"] == {
        "description": "What is wanted.",
        "enum": ["refund", "repair"],
        "type": "string",
    }
    assert properties["schema"]["default"] == "a"
    item = properties["items"]["items"]
    assert item["additionalProperties"] is False
    assert item["properties"]["sku"] == {"description": "Product code.", "type": "string"}
    assert "$ref" not in str(open_ticket.parameters)
    assert "title" not in str(open_ticket.parameters)


def test_markers_in_annotations_say_what_must_be_grounded_also_inside_nested_models() -> None:
    assert open_ticket.grounded == {
        "order_id": "identifier",
        "items[].sku": "identifier",
        "contact": "detail",
    }


async def test_the_function_gets_its_own_types_and_the_context() -> None:
    args: Arguments = {"order_id": "A-1", "wish": "Refund", "items": [{"sku": "x"}], "pick_up": "2024/5/2"}
    checked = check_arguments(open_ticket, args)
    assert isinstance(checked, Validated)
    result = await open_ticket.run(checked.args, context())
    assert result == {
        "user": "u1",
        "wish": Wish.REFUND,
        "items": [Item(sku="x")],
        "pick_up": date(2024, 5, 2),
        "schema": "a",
    }


def test_what_only_the_functions_types_refuse_is_a_problem_of_the_field_too() -> None:
    args: Arguments = {"order_id": "A-1", "wish": "refund", "items": [], "copies": 3}
    checked = check_arguments(open_ticket, args)
    assert isinstance(checked, Rejected)
    assert checked.fields == ("copies",)
    assert checked.problems[0].problem == "must be even"


async def test_a_plain_function_runs_in_a_thread_of_its_own() -> None:
    @tool
    def which_thread(name: Annotated[str, Field(description="Any word.")]) -> bool:
        """Tell the thread."""
        return threading.current_thread() is threading.main_thread()

    assert await which_thread.run({"name": "x"}, context()) is False


def test_a_default_may_be_a_pydantic_field() -> None:
    @tool
    async def look(order_id: str = Field(description="Order number.", max_length=9)) -> None:
        """Look it up."""

    assert look.parameters["required"] == ["order_id"]
    assert look.parameters["properties"]["order_id"]["maxLength"] == 9


def test_an_argument_without_a_type_is_refused_with_its_name() -> None:
    def untyped(order_id) -> None:  # type: ignore[no-untyped-def]
        """Look it up."""

    with pytest.raises(DeclarationError, match=r"untyped.*order_id.*no type"):
        tool(untyped)


def test_arguments_without_fixed_names_are_refused() -> None:
    def variadic(*order_ids: str) -> None:
        """Look them up."""

    with pytest.raises(DeclarationError, match=r"variadic.*order_ids"):
        tool(variadic)


def test_a_type_that_json_cannot_carry_is_refused() -> None:
    def impossible(where: threading.Thread) -> None:
        """Do it."""

    with pytest.raises(DeclarationError, match="impossible"):
        tool(impossible)


def test_guards_and_progress_sentences_must_name_arguments() -> None:
    async def look(order_id: Annotated[str, Field(description="Order number.")]) -> None:
        """Look it up."""

    with pytest.raises(DeclarationError, match=r"look.*grounded names 'order'"):
        tool(grounded={"order": "identifier"})(look)
    with pytest.raises(DeclarationError, match=r"look.*progress names 'id'"):
        tool(progress={"en": "looking up {id}"})(look)


def test_a_brought_schema_may_use_loose_type_names() -> None:
    schema = {
        "type": "dict",
        "properties": {
            "price": {"type": "float", "description": "Price."},
            "tags": {"type": "tuple", "items": {"type": "str"}, "description": "Tags."},
            "note": {"type": "string", "nullable": True, "description": "Note."},
            "count": {"type": "int", "required": True, "description": "Count."},
            "extra": {"type": "any", "description": "Anything."},
        },
    }
    spec = from_json_schema("t", "A tool.", schema, never)
    assert check_arguments(spec, {"price": "1.5", "tags": ["a"], "note": None, "count": 1, "extra": []}) == (
        Validated(
            {"price": 1.5, "tags": ["a"], "note": None, "count": 1, "extra": []}, ("price: read as number",)
        )
    )
    missing = check_arguments(spec, {})
    assert isinstance(missing, Rejected)
    assert missing.kind == "missing_argument"
    assert missing.fields == ("count",)


def test_a_brought_schema_refuses_unknown_arguments_and_leaves_nested_ones_to_its_own_rules() -> None:
    nested = {"type": "object", "properties": {"a": {"type": "integer"}}}
    spec = from_json_schema("t", "A tool.", {"properties": {"o": nested}}, never)
    assert isinstance(check_arguments(spec, {"o": {"a": 1, "b": 2}}), Validated)
    refused = check_arguments(spec, {"o": {}, "p": 1})
    assert isinstance(refused, Rejected)
    assert refused.fields == ("p",)


def test_a_brought_schema_that_takes_any_name_keeps_taking_it() -> None:
    spec = from_json_schema(
        "t", "A tool.", {"type": "object", "additionalProperties": {"type": "integer"}}, never
    )
    assert isinstance(check_arguments(spec, {"x": 1}), Validated)
    assert isinstance(check_arguments(spec, {"x": "a"}), Rejected)


def test_a_brought_tool_without_schema_takes_no_arguments() -> None:
    spec = from_json_schema("t", "A tool.", None, never)
    assert check_arguments(spec, {}) == Validated({})
    assert isinstance(check_arguments(spec, {"x": 1}), Rejected)


def test_defaults_of_a_brought_tool_are_left_to_the_tool() -> None:
    schema = {"properties": {"limit": {"type": "integer", "default": 10}}}
    assert check_arguments(from_json_schema("t", "A tool.", schema, never), {}) == Validated({})
    filled = from_json_schema("t", "A tool.", schema, never, fill_defaults=True)
    assert check_arguments(filled, {}) == Validated({"limit": 10})


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "#/$defs/nowhere"}}},
        {"properties": {"a": {"$ref": "https://example.com/schema"}}},
        {"properties": {"a": {"type": "string", "pattern": "(["}}},
        {"properties": {"a": {"type": "string", "enum": "not a list"}}},
    ],
)
def test_a_broken_schema_is_refused_with_the_tools_name(schema: dict[str, Any]) -> None:
    with pytest.raises(DeclarationError, match="Tool 'broken'"):
        from_json_schema("broken", "A tool.", schema, never)
