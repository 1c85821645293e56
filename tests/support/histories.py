"""Random conversations as they really are in a store: parallel calls, gaps, interrupted turns, odd texts."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

TEXTS = st.one_of(
    st.text(min_size=1, max_size=40),
    st.sampled_from(["我的订单到哪里了", "where is it? 🙂", "مرحبا", "👩‍👩‍👧‍👦", "a" * 3000, "退货" * 800]),
)


@st.composite
def histories(draw: st.DrawFn) -> list[AnyMessage]:
    """A conversation that ends with the customer's message or inside a turn; ids are unique."""
    messages: list[AnyMessage] = []
    for turn in range(draw(st.integers(1, 6))):
        messages.append(HumanMessage(draw(TEXTS), id=f"h{turn}"))
        messages.extend(_turn(draw, turn))
    if draw(st.booleans()):
        messages.append(HumanMessage(draw(TEXTS), id="last"))
    return messages


def _turn(draw: st.DrawFn, turn: int) -> list[AnyMessage]:
    messages: list[AnyMessage] = []
    for step in range(draw(st.integers(0, 4))):
        ids = [f"c{turn}.{step}.{n}" for n in range(draw(st.integers(1, 3)))]
        unreadable = draw(st.booleans())
        messages.append(_calls(draw(st.sampled_from(["", "one moment"])), ids, unreadable, f"a{turn}.{step}"))
        answered = ids if draw(st.integers(0, 3)) else ids[: draw(st.integers(0, len(ids)))]
        messages.extend(ToolMessage(draw(TEXTS), tool_call_id=id, id=f"r{id}") for id in answered)
    if draw(st.booleans()):
        messages.append(AIMessage(draw(TEXTS), id=f"a{turn}"))
    return messages


def _calls(text: str, ids: list[str], unreadable: bool, id: str) -> AIMessage:
    bad = ids[:1] if unreadable else []
    calls: list[Any] = [{"name": "look", "args": {"x": 1}, "id": i} for i in ids if i not in bad]
    invalid: list[Any] = [{"name": "look", "args": '{"x": ', "id": i, "error": "cut off"} for i in bad]
    return AIMessage(text, tool_calls=calls, invalid_tool_calls=invalid, id=id)
