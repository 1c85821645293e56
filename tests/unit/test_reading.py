"""Calls as they come from the model: each readable or marked so, each with an id of its own."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, InvalidToolCall, ToolCall
from langchain_core.messages.tool import tool_call_chunk
from pydantic import Field

from tools.declare import tool
from tools.names import is_protocol_name
from tools.reading import raw_calls, read_calls
from tools.registry import ToolRegistry
from tools.validate import Validated, validate


@tool
async def order_query(
    order_id: Annotated[str, Field(description="Order number.")],
    full: Annotated[bool, Field(description="All of it.")] = False,
) -> None:
    """Look up an order."""


REGISTRY = ToolRegistry([order_query])


def streamed(*pieces: dict[str, Any], **metadata: Any) -> AIMessageChunk:
    message = AIMessageChunk(content="", response_metadata=metadata)
    for piece in pieces:
        message = message + AIMessageChunk(content="", tool_call_chunks=[tool_call_chunk(**piece)])
    return message


def broken(text: str | None, name: str = "order_query", id: str | None = "1", **metadata: Any) -> AIMessage:
    call = InvalidToolCall(name=name, args=text, id=id, error=None, type="invalid_tool_call")
    return AIMessage("", invalid_tool_calls=[call], response_metadata=metadata)


def called(name: str, args: dict[str, Any], id: str | None) -> ToolCall:
    return ToolCall(name=name, args=args, id=id, type="tool_call")


def test_a_cut_off_stream_is_not_taken_for_the_object_it_began() -> None:
    chunk = streamed({"name": "order_query", "args": '{"order_id": "ABC", "fu', "id": "1", "index": 0})
    assert chunk.tool_calls, "LangChain completes it, which is the trap"
    message = read_calls(chunk, ())
    assert message.tool_calls == []
    (call,) = raw_calls(message)
    assert call.args is None
    assert call.text == '{"order_id": "ABC", "fu'
    assert call.error


def test_the_message_becomes_a_plain_one_and_keeps_the_rest() -> None:
    chunk = streamed({"name": "order_query", "args": '{"order_id": "A"}', "id": "1", "index": 0})
    chunk.additional_kwargs["tool_calls"] = [{"id": "1"}]
    chunk.content, chunk.id = "one moment", "m1"
    message = read_calls(chunk, ())
    assert type(message) is AIMessage
    assert (message.text, message.id, message.additional_kwargs) == ("one moment", "m1", {})
    assert message.tool_calls == [called("order_query", {"order_id": "A"}, "1")]


@pytest.mark.parametrize("text", ["", " ", "null", None, "{}"])
def test_no_arguments_are_an_empty_object_in_the_history(text: str | None) -> None:
    assert read_calls(broken(text), ()).tool_calls == [called("order_query", {}, "1")]


def test_an_empty_text_that_was_cut_off_is_not_an_empty_object() -> None:
    message = read_calls(broken("", finish_reason="length"), ())
    assert message.tool_calls == []
    assert "cut off" in (raw_calls(message)[0].error or "")


def test_ids_are_unique_in_the_message_and_in_the_thread() -> None:
    calls = [called("order_query", {}, "1"), called("order_query", {}, "1"), called("order_query", {}, None)]
    ids = [call["id"] for call in read_calls(AIMessage("", tool_calls=calls), {"0"}).tool_calls]
    assert ids[0] == "1"
    assert len({*ids, None}) == 4
    again = read_calls(AIMessage("", tool_calls=calls[:1]), {"1"}).tool_calls[0]["id"]
    assert again != "1"


def test_what_the_schema_confirms_is_repaired_and_stands_so_in_the_history() -> None:
    message = read_calls(broken("{'order_id': 'A',}"), (), REGISTRY, ["order_query"])
    assert message.tool_calls == [called("order_query", {"order_id": "A", "full": False}, "1")]
    refused = read_calls(broken("{'order': 'A',}"), (), REGISTRY, ["order_query"])
    assert refused.invalid_tool_calls[0]["args"] == "{'order': 'A',}"


def test_a_decorated_name_is_put_right_and_an_unknown_one_is_made_fit_for_the_protocol() -> None:
    calls = [called('functions.order_query" />', {"order_id": "A"}, "1"), called("no such tool!", {}, "2")]
    message = read_calls(AIMessage("", tool_calls=calls), (), REGISTRY, ["order_query"])
    assert [call["name"] for call in message.tool_calls] == ["order_query", "no_such_tool"]


def test_what_no_store_takes_is_cleaned_out_of_arguments() -> None:
    chunk = streamed(
        {"name": "t", "args": '{"a": "x\\u0000y", "b": ["\\ud83d\\ude00"]}', "id": "1", "index": 0}
    )
    assert read_calls(chunk, ()).tool_calls[0]["args"] == {"a": "xy", "b": ["😀"]}


def test_a_number_that_no_checkpoint_holds_stands_as_its_digits_and_is_an_integer_where_one_is_asked_for() -> (
    None
):
    big = 2**70
    message = AIMessage("", tool_calls=[called("t", {"n": big, "m": [-big, 2**62]}, "1")])
    args = read_calls(message, ()).tool_calls[0]["args"]
    checked = validate({"properties": {"n": {"type": "integer"}}}, {"n": args["n"]})
    assert isinstance(checked, Validated)
    assert checked.args == {"n": big}


def test_arguments_nested_beyond_reason_are_no_arguments() -> None:
    nested: dict[str, Any] = {}
    for _ in range(5000):
        nested = {"a": nested}
    parsed = AIMessage("", tool_calls=[called("t", {"a": 1}, "1")])
    parsed.tool_calls[0]["args"] = nested
    assert "too deeply" in (raw_calls(read_calls(parsed, ()))[0].error or "")
    text = '{"a":' * 500 + "1" + "}" * 500
    assert "too deeply" in (raw_calls(read_calls(broken(text), ()))[0].error or "")


def test_one_key_with_two_values_is_not_settled_by_chance() -> None:
    assert read_calls(broken('{"order_id": "A", "order_id": "B"}'), ()).invalid_tool_calls


CALLS = st.tuples(
    st.sampled_from(["order_query", "functions.order_query", "", "x y", "订单"]),
    st.sampled_from(
        ['{"order_id": "A"}', '{"order_id": "A', "", "null", "[1]", "{'order_id': 'A'}", "{}{}", "\x00"]
    ),
    st.sampled_from(["1", "2", "", None]),
)


@given(st.lists(CALLS, max_size=6), st.booleans(), st.sampled_from(["stop", "length"]))
def test_whatever_comes_every_call_ends_with_an_id_a_name_and_a_reading(
    calls: list[tuple[str, str, str | None]], with_registry: bool, finish: str
) -> None:
    pieces = [{"name": name, "args": text, "id": id, "index": n} for n, (name, text, id) in enumerate(calls)]
    registry = REGISTRY if with_registry else None
    message = read_calls(streamed(*pieces, finish_reason=finish), {"2"}, registry, ["order_query"])
    raw = raw_calls(message)
    assert len(raw) == len(calls)
    assert len({call.id for call in raw} | {"", "2"}) == len(calls) + 2
    assert all(call.name for call in raw)
    assert all((call.args is None) == bool(call.error) for call in raw)
    if with_registry:
        assert all(is_protocol_name(call.name) for call in raw)
