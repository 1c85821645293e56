"""Plain messages as the chat-completions protocol writes them.

LangChain's conversion looks at every character of an answer, in case it is a piece of audio; a long history is mostly
answers, and it is sent with every call.
"""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from nodes.model_answer import REASONING

_UNSENT = frozenset({REASONING})
"""What a message may carry beside its words and still be plain: it is written elsewhere, where a model wants it."""


def wire_form(message: BaseMessage) -> dict[str, Any] | None:
    """Words, calls or a result, as LangChain would write them; None for anything that is more than that."""
    if not isinstance(message.content, str) or message.name is not None:
        return None
    if message.additional_kwargs and not message.additional_kwargs.keys() <= _UNSENT:
        return None
    match message.type:
        case "human":
            return {"content": message.content, "role": "user"}
        case "ai" if isinstance(message, AIMessage) and not message.invalid_tool_calls:
            return _of_answer(message)
        case "tool" if isinstance(message, ToolMessage):
            return {"content": message.content, "role": "tool", "tool_call_id": message.tool_call_id}
    return None


def _of_answer(message: AIMessage) -> dict[str, Any]:
    if not message.tool_calls:
        return {"content": message.content, "role": "assistant"}
    calls = [
        {
            "type": "function",
            "id": call["id"],
            "function": {"name": call["name"], "arguments": json.dumps(call["args"], ensure_ascii=False)},
        }
        for call in message.tool_calls
    ]
    return {"content": message.content or None, "role": "assistant", "tool_calls": calls}
