"""What is read from a checkpoint is what was written, and imports nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from memory.checkpoint_serializer import Serializer

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.dictionaries(TEXT, JSON, max_size=3)
CALL = st.fixed_dictionaries({"name": TEXT, "args": FIELDS, "id": TEXT, "type": st.just("tool_call")})
USAGE = st.fixed_dictionaries(
    {
        "input_tokens": st.integers(0, 9),
        "output_tokens": st.integers(0, 9),
        "total_tokens": st.integers(0, 18),
    }
)
ID = st.none() | TEXT
MESSAGES: st.SearchStrategy[AnyMessage] = st.one_of(
    st.builds(HumanMessage, TEXT, id=ID, additional_kwargs=FIELDS, name=ID),
    st.builds(
        AIMessage,
        TEXT,
        id=ID,
        tool_calls=st.lists(CALL, max_size=2),
        usage_metadata=st.none() | USAGE,
        response_metadata=FIELDS,
    ),
    st.builds(
        ToolMessage, TEXT, tool_call_id=TEXT, id=ID, name=ID, status=st.sampled_from(["success", "error"])
    ),
    st.builds(SystemMessage, TEXT, id=ID),
)


@given(st.lists(MESSAGES, max_size=4))
def test_messages_come_back_as_they_were_written_and_as_langgraph_reads_them(
    messages: list[AnyMessage],
) -> None:
    written = Serializer().dumps_typed(messages)
    read = Serializer().loads_typed(written)
    assert read == messages
    assert [type(message) for message in read] == [type(message) for message in messages]
    plain = JsonPlusSerializer(allowed_msgpack_modules=None).loads_typed(written)
    assert [message.model_dump() for message in read] == [message.model_dump() for message in plain]


class Unknown:
    """Nothing that a checkpoint may bring into being."""

    made = 0

    def __init__(self, **fields: object) -> None:
        Unknown.made += 1

    def model_dump(self) -> dict[str, object]:
        return {"a": 1}


def test_what_is_neither_a_message_nor_json_is_not_brought_into_being(
    caplog: pytest.LogCaptureFixture,
) -> None:
    written = JsonPlusSerializer().dumps_typed([Unknown()])
    Unknown.made = 0
    Serializer().loads_typed(written)
    assert Unknown.made == 0
