"""Argument texts: repaired where they have one reading, refused where anything would be a guess."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.arguments import check_call
from tools.calls import RawCall
from tools.declare import from_json_schema
from tools.json_text import Unreadable, read_json
from tools.repair import GLUED, plain_object, read_arguments
from tools.spec import Arguments, ToolContext
from tools.validate import Rejected, Validated

ORDER = {"order_id": "ABC-1", "full": True}


async def never(args: Arguments, context: ToolContext) -> None:
    raise AssertionError("not run in these tests")


TOOL = from_json_schema(
    "order_query",
    "A tool.",
    {
        "properties": {"order_id": {"type": "string"}, "full": {"type": "boolean"}, "n": {"type": "integer"}},
        "required": ["order_id"],
    },
    never,
)


@pytest.mark.parametrize(
    "text",
    [
        '{"order_id": "ABC-1", "full": true}',
        '```json\n{"order_id": "ABC-1", "full": true}\n```',
        '```\n{"order_id": "ABC-1", "full": true}',
        '{"order_id": "ABC-1", "full": true,}',
        "{'order_id': 'ABC-1', 'full': True}",
        '"{\\"order_id\\": \\"ABC-1\\", \\"full\\": true}"',
        'Here are the arguments: {"order_id": "ABC-1", "full": true}',
        '{"order_id": "ABC-1", "full": true}\nThat is all.',
        '{"order_id": "ABC-1", "full": true}}',
        '{"order_id": "ABC-1", "full": true}</tool_call>',
        '<tool_call>{"order_id": "ABC-1", "full": true}</tool_call>',
        '[{"order_id": "ABC-1", "full": true}]',
        '{order_id: "ABC-1", full: true}',
        '{"order_id": "ABC-1", // the order\n "full": true /* whole */}',
        "{“order_id”：“ABC-1”，“full”：true}",
        '\ufeff{"order_id": "ABC-1", "full": true}',
        'order_query({"order_id": "ABC-1", "full": true})',
    ],
)
def test_near_misses_with_one_reading_are_repaired(text: str) -> None:
    checked = check_call(TOOL, RawCall("1", "order_query", None, text))
    assert isinstance(checked, Validated)
    assert checked.args == ORDER


@pytest.mark.parametrize(
    "text",
    [
        '{"order_id": "ABC-1", "full": tr',
        '{"order_id": "ABC-1", "fu',
        '{"order_id": "ABC-1"',
        '{"order_id": "ABC-1",',
        '```json\n{"order_id": "ABC',
        '"{\\"order_id\\": \\"ABC-1\\", \\"fu',
        '{"order_id": "ABC-1"}{"order_id": "ABC-1"}',
        '{"order_id": "ABC-1"}\n{"order_id": "DEF-2"}',
        '[{"order_id": "ABC-1"}, {"order_id": "DEF-2"}]',
        '{"order_id": "ABC-1"}, "full": false}',
        '{"order_id": "ABC-1"} full=false',
        '{"order_id": "ABC-1", "order_id": "DEF-2"}',
        '{"order_id": "say "hi" now"}',
        '{"order_id": "ABC-1" "full": true}',
        '{"order_id": ABC-1}',
        '{"order_id": "A\\dB"}',
        '{"order_id": "ABC-1", "n": NaN}',
        '{"order_id": "ABC-1", "n": 007}',
        '"full": true, "order": {"order_id": "ABC-1"}}',
        "order_id=ABC-1",
        '"ABC-1"',
        "[1, 2]",
        "7",
        "[" * 100_000,
        '{"a":' * 100_000,
    ],
)
def test_what_would_be_a_guess_is_refused(text: str) -> None:
    checked = check_call(TOOL, RawCall("1", "order_query", None, text))
    assert isinstance(checked, Rejected)
    assert checked.text
    assert checked.kind == "invalid_arguments"


def test_two_objects_in_one_text_are_told_apart_from_other_faults() -> None:
    with pytest.raises(Unreadable, match="one call for each object"):
        read_arguments('{"x": 1}{"x": 2}')
    assert "one call for each" in GLUED


def test_a_repair_counts_only_where_it_fits_the_schema() -> None:
    checked = check_call(TOOL, RawCall("1", "order_query", None, "{'order': 'ABC-1'}", "not valid JSON"))
    assert isinstance(checked, Rejected)
    assert checked.text == "not valid JSON"
    assert set(checked.fields) == {"order_id", "order"}


def test_text_that_could_not_be_read_never_runs_on_defaults() -> None:
    tool = from_json_schema("t", "A tool.", {"properties": {"n": {"type": "integer"}}}, never)
    assert isinstance(check_call(tool, RawCall("1", "t", None, "", "cut off")), Rejected)
    assert isinstance(check_call(tool, RawCall("1", "t", None, '{"n"')), Rejected)


@pytest.mark.parametrize("text", [None, "", "  \n", "null", "{}"])
def test_no_text_is_a_call_without_arguments(text: str | None) -> None:
    assert plain_object(text) == {}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(min_size=1), JSON, min_size=1, max_size=4)


@given(OBJECTS, st.data())
def test_no_proper_beginning_of_an_object_is_ever_read_as_one(
    value: dict[str, Any], data: st.DataObject
) -> None:
    text = json.dumps(value, ensure_ascii=data.draw(st.booleans()))
    cut = data.draw(st.integers(1, len(text) - 1))
    with pytest.raises(Unreadable):
        read_arguments(text[:cut])
    with pytest.raises(Unreadable):
        read_arguments("Arguments: " + text[:cut])


@given(OBJECTS, OBJECTS, st.sampled_from(["", " ", "\n", ", ", "\n\n"]))
def test_two_objects_are_never_read_as_one(
    first: dict[str, Any], second: dict[str, Any], between: str
) -> None:
    with pytest.raises(Unreadable):
        read_arguments(json.dumps(first) + between + json.dumps(second))


@given(OBJECTS, st.sampled_from(["{}", "```json\n{}\n```", "<tool_call>{}</tool_call>", "Arguments: {}"]))
def test_valid_json_in_any_wrapping_keeps_its_value(value: dict[str, Any], wrapping: str) -> None:
    assert read_arguments(wrapping.replace("{}", json.dumps(value))).args == value


@given(OBJECTS)
def test_a_text_encoded_twice_keeps_its_value(value: dict[str, Any]) -> None:
    assert read_arguments(json.dumps(json.dumps(value))).args == value


@given(OBJECTS)
def test_a_python_literal_is_read_rightly_or_not_at_all(value: dict[str, Any]) -> None:
    try:
        reading = read_json(repr(value)).value
    except Unreadable:
        return
    assert reading == value
