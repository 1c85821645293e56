"""Arguments that fit run as they are; what loses nothing is coerced; all else is refused by field."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.declare import from_json_schema
from tools.dialects import compile_schema
from tools.spec import Arguments, ToolContext
from tools.validate import Rejected, Validated, explain, validate


def of(field: dict[str, Any], *, required: bool = False) -> dict[str, Any]:
    """A tool with the one argument `x`."""
    return {
        "type": "object",
        "properties": {"x": field},
        "required": ["x"] if required else [],
        "additionalProperties": False,
    }


INTEGER = {"type": "integer"}
STRING = {"type": "string"}


@pytest.mark.parametrize(
    ("field", "written", "read"),
    [
        (INTEGER, "5", 5),
        (INTEGER, " 5 ", 5),
        (INTEGER, "５", 5),
        (INTEGER, "-3", -3),
        (INTEGER, "3.0", 3),
        (INTEGER, 3.0, 3),
        (INTEGER, "12345678901234567890", 12345678901234567890),
        ({"type": "number"}, "52.33", 52.33),
        ({"type": "number"}, "1e3", 1000),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, "False", False),
        ({"type": "null"}, "null", None),
        (STRING, 13800138000, "13800138000"),
        ({"type": "array", "items": INTEGER}, "[1,2]", [1, 2]),
        ({"type": "array", "items": INTEGER}, '["1", "2"]', [1, 2]),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"type": "object"}, "{'a': True}", {"a": True}),
        ({"type": "object", "properties": {"a": INTEGER}}, '{"a": "1"}', {"a": 1}),
        ({"type": "string", "format": "date"}, "2024/5/20", "2024-05-20"),
        ({"type": "string", "format": "date"}, "2024年5月20日", "2024-05-20"),
        ({"type": "string", "format": "date"}, "20240520", "2024-05-20"),
        ({"type": "string", "format": "date"}, "2024-05-20T00:00:00Z", "2024-05-20"),
        ({"type": "string", "format": "date-time"}, "2024-05-20 9:30", "2024-05-20T09:30"),
        ({"type": "string", "format": "time"}, "9:30", "09:30"),
        ({"type": "string", "pattern": "^[A-Z]{3}-[0-9]{3}$"}, "ＡＢＣ－１２３", "ABC-123"),
        ({"type": "string", "pattern": "^[A-Z]+$"}, "GOOG\n", "GOOG"),
        ({"enum": ["in_transit", "delivered"]}, "In Transit", "in_transit"),
        ({"enum": ["small", "large"]}, " SMALL", "small"),
        ({"enum": [1, 2]}, "2", 2),
        ({"enum": ["1", "2"]}, 2, "2"),
        ({"enum": [True, "later"]}, "true", True),
        ({"const": "Refund"}, "refund", "Refund"),
        ({"anyOf": [INTEGER, {"type": "null"}]}, "5", 5),
        ({"anyOf": [INTEGER, {"type": "null"}]}, "null", None),
        ({"oneOf": [{"type": "object", "required": ["a"]}, {"type": "array"}]}, '{"a": 1}', {"a": 1}),
        ({"type": ["integer", "null"]}, "7", 7),
        ({"anyOf": [STRING, {"type": "null"}]}, "null", None),
        ({"type": ["string", "null"]}, "null", None),
    ],
)
def test_what_loses_nothing_is_coerced_and_noted(field: dict[str, Any], written: Any, read: Any) -> None:
    checked = validate(of(field), {"x": written})
    assert isinstance(checked, Validated)
    assert json.dumps(checked.args["x"]) == json.dumps(read)
    assert bool(checked.notes) == isinstance(written, str | int)


@pytest.mark.parametrize(
    ("field", "written"),
    [
        (INTEGER, "3.14"),
        (INTEGER, 3.5),
        (INTEGER, "abc"),
        (INTEGER, ""),
        (INTEGER, "inf"),
        (INTEGER, "1,234"),
        (INTEGER, "0x10"),
        (INTEGER, True),
        (INTEGER, "true"),
        (INTEGER, [1]),
        ({"type": "number"}, "nan"),
        ({"type": "number"}, float("inf")),
        ({"type": "number"}, float("nan")),
        ({}, float("nan")),
        ({"type": "number"}, "0.12345678901234567890123"),
        ({"type": "boolean"}, "maybe"),
        ({"type": "boolean"}, 1),
        ({"type": "boolean"}, "1"),
        (STRING, 1.5),
        (STRING, True),
        (STRING, ["a"]),
        ({"type": "array"}, "a, b"),
        ({"type": "array", "items": STRING}, "a"),
        ({"type": "object"}, '{"a": 1'),
        ({"type": "string", "format": "date"}, "05/06/2024"),
        ({"type": "string", "format": "date"}, "2024-02-30"),
        ({"type": "string", "format": "date-time"}, "2024-05-20"),
        ({"type": "string", "format": "email"}, "user!example.com"),
        ({"type": "string", "pattern": "^[A-Z]+$"}, "Goog"),
        ({"type": "string", "pattern": "^[A-Z]+$"}, "GO\nOG"),
        ({"type": "string", "pattern": "^\\d+$"}, "一"),
        ({"enum": ["a-b", "a_b"]}, "A B"),
        ({"enum": ["celsius"]}, "celsius_zzz"),
        ({"anyOf": [INTEGER, {"type": "boolean"}]}, "maybe"),
        ({"type": "integer", "maximum": 9}, "10"),
    ],
)
def test_everything_else_is_refused_with_the_field_named(field: dict[str, Any], written: Any) -> None:
    checked = validate(of(field), {"x": written})
    assert isinstance(checked, Rejected)
    assert checked.fields == ("x",)
    assert checked.kind == "invalid_arguments"


def test_a_valid_value_is_never_touched_whatever_it_looks_like() -> None:
    args: Arguments = {"x": "5"}
    assert validate(of({"type": ["string", "integer"]}), args) == Validated(args)
    assert validate(of(STRING), {"x": "null"}) == Validated({"x": "null"})
    assert validate(of({}), {"x": "[1]"}) == Validated({"x": "[1]"})


def test_null_for_an_optional_argument_means_that_it_was_left_out() -> None:
    checked = validate(of({"type": "integer", "default": 3}), {"x": None})
    assert checked == Validated({"x": 3}, ("x: null taken as left out",))
    assert validate(of(INTEGER), {"x": "null"}) == Validated({}, ("x: null taken as left out",))
    assert validate(of({"type": ["integer", "null"]}), {"x": None}) == Validated({"x": None})


@pytest.mark.parametrize("args", [{}, {"x": None}])
def test_a_missing_required_argument_is_a_kind_of_its_own(args: dict[str, Any]) -> None:
    checked = validate(of({"type": "integer", "description": "How many."}, required=True), args)
    assert isinstance(checked, Rejected)
    assert checked.kind == "missing_argument"
    assert checked.fields == ("x",)
    assert "How many" in checked.problems[0].problem


def test_defaults_are_filled_in_also_below_and_only_where_they_fit() -> None:
    inner = {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}}
    schema = {
        "type": "object",
        "properties": {"x": inner, "y": {"type": "integer", "default": "any"}, "z": {"default": []}},
    }
    assert validate(schema, {"x": {}}) == Validated({"x": {"n": 1}, "z": []})
    assert validate(schema, {"x": {}}, fill_defaults=False) == Validated({"x": {}})


def test_the_given_arguments_and_the_schemas_defaults_stay_as_they_are() -> None:
    schema = of({"type": "array", "items": INTEGER, "default": []})
    first, args = validate(schema, {}), {"x": ["1"]}
    assert isinstance(first, Validated)
    assert isinstance(first.args["x"], list)
    first.args["x"].append(1)
    assert validate(schema, {}) == Validated({"x": []})
    validate(schema, args)
    assert args == {"x": ["1"]}


def test_unknown_arguments_are_refused_with_the_nearest_name() -> None:
    checked = validate(of(STRING), {"x": "a", "X1": 1, "zebra": None})
    assert isinstance(checked, Rejected)
    assert [(each.path, each.kind) for each in checked.problems] == [("X1", "unknown"), ("zebra", "unknown")]
    assert "did you mean x" in checked.problems[0].problem
    assert checked.problems[1].allowed == "x"


def test_all_faulty_fields_are_told_at_once_by_their_paths() -> None:
    item = {
        "type": "object",
        "properties": {
            "sku": {"type": "string", "pattern": "^[A-Z]+$"},
            "n": {"type": "integer", "minimum": 1},
        },
        "required": ["sku"],
    }
    schema = {"type": "object", "properties": {"items": {"type": "array", "items": item}, "day": STRING}}
    checked = validate(schema, {"items": [{"sku": "a", "n": 0}, {}], "day": []})
    assert isinstance(checked, Rejected)
    assert set(checked.fields) == {"items[0].sku", "items[0].n", "items[1].sku", "day"}


def test_of_several_forms_the_faults_of_the_one_that_was_meant_are_told() -> None:
    email = {
        "type": "object",
        "properties": {"by": {"const": "email"}, "to": {"type": "string", "format": "email"}},
        "required": ["by", "to"],
    }
    phone = {
        "type": "object",
        "properties": {"by": {"const": "phone"}, "no": STRING},
        "required": ["by", "no"],
    }
    checked = validate(of({"anyOf": [email, phone]}), {"x": {"by": "phone"}})
    assert isinstance(checked, Rejected)
    assert checked.fields == ("x.no",)


async def never(args: Arguments, context: ToolContext) -> None:
    raise AssertionError("not run in these tests")


def test_the_text_for_the_model_says_what_was_wrong_and_what_is_allowed() -> None:
    spec = from_json_schema(
        "order_query",
        "A tool.",
        {
            "properties": {
                "order_id": {"type": "string", "description": "Order number."},
                "limit": {"type": "integer", "minimum": 1, "maximum": 9},
                "state": {"enum": ["open", "closed"]},
            },
            "required": ["order_id"],
        },
        never,
    )
    checked = validate(spec.parameters, {"limit": "ten", "state": "gone"})
    assert isinstance(checked, Rejected)
    assert explain(checked, spec).splitlines() == [
        "The arguments of order_query were refused; nothing was run.",
        '- limit: "ten" is not of type integer. Allowed: an integer from 1 to 9.',
        '- state: "gone" is none of the allowed values. Allowed: one of "open", "closed".',
        "- order_id: required, but missing (Order number). Allowed: a string.",
        "Ask the user for what is missing unless it is already known; never make it up.",
        "Correct these fields and call the tool again.",
    ]


def test_a_long_value_is_not_repeated_whole() -> None:
    checked = validate(of(INTEGER), {"x": "y" * 10_000})
    assert isinstance(checked, Rejected)
    assert len(checked.problems[0].problem) < 200


def test_no_reference_leaves_the_schema_for_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(*args: object) -> None:
        raise AssertionError("a validator reached for the network")

    monkeypatch.setattr(socket, "getaddrinfo", no_network)
    with pytest.raises(Exception, match="Unresolvable"):
        compile_schema({"$ref": "https://example.com/s.json"}).is_valid(1)


@pytest.mark.parametrize(
    ("schema", "value", "valid"),
    [
        ({"items": [{"type": "integer"}], "additionalItems": False}, [1, 2], False),
        ({"prefixItems": [{"type": "integer"}], "items": False}, [1, 2], False),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "format": "date"}, "soon", False),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema", "format": "date"}, "soon", True),
        (
            {"patternProperties": {"^\\p{L}+$": {"type": "integer"}}, "additionalProperties": False},
            {"é": 1},
            True,
        ),
    ],
)
def test_both_drafts_are_understood_also_where_none_is_named(schema: Any, value: Any, valid: bool) -> None:
    assert compile_schema(schema).is_valid(value) is valid


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "integer": st.integers(-(10**15), 10**15),
    "number": st.floats(-1e15, 1e15, allow_nan=False),
    "boolean": st.booleans(),
}


@given(st.dictionaries(st.sampled_from("abcd"), st.sampled_from(sorted(VALUES))), st.data())
def test_values_written_as_text_end_equal_to_the_original(types: dict[str, str], data: st.DataObject) -> None:
    schema = {"type": "object", "properties": {name: {"type": each} for name, each in types.items()}}
    args = {name: data.draw(VALUES[each]) for name, each in types.items()}
    assert validate(schema, args) == Validated(args)
    as_text = validate(schema, {name: json.dumps(value) for name, value in args.items()})
    assert isinstance(as_text, Validated)
    assert as_text.args == args


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text() | st.none() | st.lists(st.text())))
def test_any_arguments_at_all_are_either_validated_or_refused_with_a_field(args: dict[str, Any]) -> None:
    schema = of(
        {"anyOf": [INTEGER, {"type": "array", "items": INTEGER}, {"enum": ["a", None]}]}, required=True
    )
    checked = validate(schema, args)
    assert isinstance(checked, Validated) or checked.problems
