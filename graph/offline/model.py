"""A chat model without a network: answers by rules, streams, calls tools, and says in its metadata what it is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import ToolCall, tool_call, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ConfigDict, SkipValidation

from graph.offline.roles import answer
from graph.offline.script import Script
from graph.offline.view import read_messages
from memory.tokens import count
from nodes.settings import Role

MODEL_NAME = "offline-demo"
_PIECE = 6
"""Characters of a streamed piece."""


class OfflineModel(BaseChatModel):
    """Plays one role by a business's script. Same messages, same answer.

    model = OfflineModel(role="chat", script=ShopScript())
    message = await model.bind_tools([schema]).ainvoke([HumanMessage("Where is order ABC-20240520-001?")])
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    role: Role
    script: SkipValidation[Script]

    @property
    def _llm_type(self) -> str:
        return MODEL_NAME

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": MODEL_NAME, "role": self.role}

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | dict[str, Any] | bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """As with a hosted model: the schemas travel with each call."""
        schemas = [convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=schemas, tool_choice=tool_choice, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        message = self._answer(messages, kwargs.get("tools") or [])
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, **kwargs)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in _chunks(self._answer(messages, kwargs.get("tools") or [])):
            yield ChatGenerationChunk(message=chunk)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._stream(messages, **kwargs):
            yield chunk

    def _answer(self, messages: Sequence[BaseMessage], tools: Sequence[dict[str, Any]]) -> AIMessage:
        text, calls = self._chat(messages, tools) if self.role == "chat" else self._role(messages, tools)
        return AIMessage(
            text,
            tool_calls=calls,
            response_metadata={"model_name": MODEL_NAME, "finish_reason": "tool_calls" if calls else "stop"},
            usage_metadata=_usage(messages, tools, text, calls),
        )

    def _chat(
        self, messages: Sequence[BaseMessage], tools: Sequence[dict[str, Any]]
    ) -> tuple[str, list[ToolCall]]:
        schemas = {tool["function"]["name"]: tool["function"].get("parameters", {}) for tool in tools}
        reply = self.script.reply(read_messages(messages, schemas))
        place = len(messages)
        return reply.text, [_call(call.name, call.args, place, i) for i, call in enumerate(reply.calls)]

    def _role(
        self, messages: Sequence[BaseMessage], tools: Sequence[dict[str, Any]]
    ) -> tuple[str, list[ToolCall]]:
        """A forced call where the answer's schema came as a tool, JSON in the content where it did not."""
        humans = [message.text for message in messages if isinstance(message, HumanMessage)]
        payload = answer(self.role, humans[-1] if humans else "", self.script)
        if tools:
            return "", [_call(tools[0]["function"]["name"], payload, len(messages), 0)]
        return json.dumps(payload, ensure_ascii=False), []


def _call(name: str, args: dict[str, Any], place: int, index: int) -> ToolCall:
    """A call whose id follows from what is called where, so that a replay makes the same one."""
    text = json.dumps([name, args, place, index], ensure_ascii=False, sort_keys=True)
    return tool_call(name=name, args=args, id=f"call_{hashlib.sha256(text.encode()).hexdigest()[:16]}")


def _usage(
    messages: Sequence[BaseMessage], tools: Sequence[dict[str, Any]], text: str, calls: Sequence[ToolCall]
) -> UsageMetadata:
    read = sum(count(_written(message)) for message in messages)
    read += count(json.dumps(list(tools), ensure_ascii=False)) if tools else 0
    written = count(text) + sum(count(json.dumps(call["args"], ensure_ascii=False)) for call in calls)
    return {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}


def _written(message: BaseMessage) -> str:
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return message.text + "".join(json.dumps(call["args"], ensure_ascii=False) for call in calls)


def _chunks(message: AIMessage) -> Iterator[AIMessageChunk]:
    text = message.text
    for start in range(0, len(text), _PIECE):
        yield AIMessageChunk(content=text[start : start + _PIECE])
    for index, call in enumerate(message.tool_calls):
        arguments = json.dumps(call["args"], ensure_ascii=False)
        yield AIMessageChunk(
            content="",
            tool_call_chunks=[tool_call_chunk(name=call["name"], args="", id=call["id"], index=index)],
        )
        for start in range(0, len(arguments), 4 * _PIECE):
            piece = arguments[start : start + 4 * _PIECE]
            yield AIMessageChunk(
                content="", tool_call_chunks=[tool_call_chunk(name=None, args=piece, id=None, index=index)]
            )
    yield AIMessageChunk(
        content="",
        response_metadata=message.response_metadata,
        usage_metadata=message.usage_metadata,
        chunk_position="last",
    )
