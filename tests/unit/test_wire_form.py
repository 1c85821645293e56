"""Plain messages are written to the wire as LangChain writes them; everything else is left to it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_openai import ChatOpenAI

from nodes.model_answer import REASONING
from nodes.openai_chat import EndpointChat
from nodes.wire_form import wire_form

TEXT = st.text(max_size=40)
NAME = st.text("abc_", min_size=1, max_size=8)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
CALL = st.fixed_dictionaries(
    {"name": NAME, "args": st.dictionaries(TEXT, VALUE, max_size=3), "id": NAME, "type": st.just("tool_call")}
)
PLAIN = st.one_of(
    TEXT.map(HumanMessage),
    st.builds(ToolMessage, TEXT, tool_call_id=NAME, id=NAME),
    st.builds(AIMessage, TEXT, tool_calls=st.lists(CALL, max_size=3)),
)


def by_langchain(*messages: BaseMessage) -> list[dict[str, Any]]:
    payload = ChatOpenAI(model="m", api_key="k")._get_request_payload(list(messages))  # type: ignore[arg-type]
    written: list[dict[str, Any]] = payload["messages"]
    return written


@given(PLAIN)
def test_a_plain_message_is_written_as_langchain_writes_it(message: BaseMessage) -> None:
    assert wire_form(message) == by_langchain(message)[0]


@pytest.mark.parametrize(
    "message",
    [
        SystemMessage("Be kind."),
        HumanMessage("hi", name="Ann"),
        HumanMessage([{"type": "text", "text": "hi"}]),
        AIMessageChunk("hi"),
        AIMessage("hi", additional_kwargs={"audio": {"id": "a1"}}),
        AIMessage("", invalid_tool_calls=[{"name": "f", "args": "{", "id": "c1", "error": None}]),
    ],
)
def test_what_is_more_than_words_is_left_to_langchain(message: BaseMessage) -> None:
    assert wire_form(message) is None


def test_the_order_of_a_conversation_stays_whoever_writes_its_messages() -> None:
    messages = [
        SystemMessage("Be kind."),
        HumanMessage("hi"),
        HumanMessage("it is me", name="Ann"),
        AIMessage("hello", additional_kwargs={REASONING: "They greet."}),
        HumanMessage("bye"),
    ]
    chat = EndpointChat(model="o3", api_key="k")  # type: ignore[arg-type]
    written = chat._get_request_payload(messages)["extra_body"]["messages"]
    assert [wire["content"] for wire in written] == [message.content for message in messages]
    assert written[0]["role"] == "developer"
    assert written[2]["name"] == "Ann"
    assert written[3][REASONING] == "They greet."
