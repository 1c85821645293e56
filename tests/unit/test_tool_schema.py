"""Argument schemas: references inlined, closed to unknown names, and put under OpenAI's strict rules."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.dialects import compile_schema
from tools.openai_strict import strict
from tools.schema import closed, inlined

NAME = {"type": "string"}


def test_references_are_inlined_with_what_stands_beside_them() -> None:
    schema = {
        "properties": {"a": {"$ref": "#/$defs/colour", "description": "Of the cup."}},
        "$defs": {"colour": {"enum": ["red"], "description": "A colour."}},
    }
    assert inlined(schema, "t") == {"properties": {"a": {"enum": ["red"], "description": "Of the cup."}}}


def test_a_recursive_definition_stays_and_still_validates() -> None:
    tree = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}}
    schema = closed(inlined({"properties": {"root": {"$ref": "#/$defs/tree"}}, "$defs": {"tree": tree}}, "t"))
    validator = compile_schema(schema)
    assert validator.is_valid({"root": {"kids": [{"kids": []}]}})
    assert not validator.is_valid({"root": {"kids": [{"kids": 1}]}})


def test_references_that_would_grow_beyond_reason_are_left() -> None:
    layers: dict[str, Any] = {
        f"l{n}": {"type": "object", "properties": {x: {"$ref": f"#/$defs/l{n + 1}"} for x in "abc"}}
        for n in range(9)
    }
    schema = {"properties": {"a": {"$ref": "#/$defs/l0"}}, "$defs": {**layers, "l9": NAME}}
    assert inlined(schema, "t") == schema


def test_an_object_completed_by_branches_is_closed_as_a_whole() -> None:
    schema = closed({"properties": {"a": NAME}, "allOf": [{"properties": {"b": NAME}}]})
    validator = compile_schema(schema)
    assert validator.is_valid({"a": "1", "b": "2"})
    assert not validator.is_valid({"a": "1", "c": "2"})


def test_branches_that_only_ask_for_fields_do_not_open_the_object() -> None:
    schema = closed(
        {"properties": {"a": NAME, "b": NAME}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    )
    assert schema["additionalProperties"] is False
    assert compile_schema(schema).is_valid({"a": "1"})


def test_strict_mode_asks_for_every_property_and_lets_optional_ones_be_null() -> None:
    schema = closed(
        {
            "properties": {
                "id": {"type": "string", "minLength": 3, "description": "Order number."},
                "limit": {"type": "integer", "default": 10},
                "mode": {"enum": ["a", "b"], "type": "string"},
                "when": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
            },
            "required": ["id"],
        }
    )
    assert strict(schema) == {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "Order number. At least 3 characters."},
            "limit": {"type": ["integer", "null"], "description": "Default: 10."},
            "mode": {"enum": ["a", "b", None], "type": ["string", "null"]},
            "when": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        },
        "required": ["id", "limit", "mode", "when"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    "field",
    [
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object"},
        {"type": "array"},
        {},
        {"not": {"type": "null"}},
    ],
)
def test_what_strict_mode_cannot_say_is_not_put_so(field: dict[str, Any]) -> None:
    assert strict(closed({"properties": {"a": field}})) is None


FIELDS = st.recursive(
    st.sampled_from([{"type": "string"}, {"type": "integer"}, {"enum": ["a", 1]}, {"type": "boolean"}]),
    lambda inner: (
        st.builds(lambda field: {"type": "array", "items": field}, inner)
        | st.builds(
            lambda fields: {"type": "object", "properties": fields},
            st.dictionaries(st.sampled_from("abc"), inner, min_size=1),
        )
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from("pqr"), FIELDS, min_size=1))
def test_strict_mode_closes_every_object_and_requires_all_of_its_properties(fields: dict[str, Any]) -> None:
    def check(node: Any) -> None:
        if isinstance(node, dict):
            if "properties" in node:
                assert node["additionalProperties"] is False
                assert sorted(node["required"]) == sorted(node["properties"])
            for value in node.values():
                check(value)
        elif isinstance(node, list):
            for each in node:
                check(each)

    result = strict(closed({"properties": fields}))
    assert result is not None
    check(result)
