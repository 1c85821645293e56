"""The OpenAI protocol's rules on a list of messages, as a check for tests."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage


def check_protocol(messages: Sequence[AnyMessage]) -> None:
    """Fails where a provider would: a call without its one result, a result without its call, a late system text."""
    assert isinstance(messages[0], SystemMessage)
    assert not any(isinstance(message, SystemMessage) for message in messages[1:])
    assert any(isinstance(message, HumanMessage) for message in messages)
    waiting: list[str] = []
    seen: set[str] = set()
    for message in messages[1:]:
        if isinstance(message, ToolMessage):
            assert message.tool_call_id in waiting, "a result without its call, or a second one"
            waiting.remove(message.tool_call_id)
            continue
        assert not waiting, f"calls without a result: {waiting}"
        if isinstance(message, AIMessage):
            assert not message.invalid_tool_calls
            assert message.text or message.tool_calls, "an empty assistant message"
            waiting = [call["id"] or "" for call in message.tool_calls]
            assert not seen & set(waiting), "a call id used twice"
            seen |= set(waiting)
    assert not waiting, f"calls without a result: {waiting}"
