"""ChatOpenAI, made to suit every endpoint that speaks its protocol.

Kept from the wire where LangChain drops it: argument texts as written, reasoning text, refusals in streams, cached
tokens under DeepSeek's name. Sent without the detours of OpenAI's client, which reads structured answers by itself
and fails on those that other endpoints give.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI
from openai import BaseModel as OpenAIModel

from nodes.endpoint_errors import CallFailed
from nodes.model_answer import RAW_CALLS, REASONING
from nodes.wire_form import wire_form

_ASIDE = ("response_format", "max_tokens", "tools")
_REASONING_FIELDS = ("reasoning_content", "reasoning")


class EndpointChat(ChatOpenAI):
    """A chat model behind an OpenAI-compatible endpoint, without retries of its own."""

    def _get_request_payload(
        self, input_: LanguageModelInput, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """As ChatOpenAI writes it, with everything that its client would rename, act upon or dwell on set aside.

        The client walks through messages and tools by their types: 20 ms of the event loop for a long history.
        What stands in `extra_body` goes into the same JSON object untouched.
        """
        aside: dict[str, Any] = {name: kwargs.pop(name) for name in _ASIDE if name in kwargs}
        messages = self._convert_input(input_).to_messages()
        plain = [wire_form(message) for message in messages]
        rest = [message for message, wire in zip(messages, plain, strict=True) if wire is None]
        payload: dict[str, Any] = super()._get_request_payload(rest, stop=stop, **kwargs)
        converted = iter(payload["messages"])
        wires = [wire or next(converted) for wire in plain]
        for message, wire in zip(messages, wires, strict=True):
            if REASONING in message.additional_kwargs and message.type == "ai":
                wire[REASONING] = message.additional_kwargs[REASONING]
        aside["messages"], payload["messages"] = wires, []
        payload["extra_body"] = {**(payload.get("extra_body") or {}), **aside}
        return payload

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        """The client is asked for the text of the answer: it would make objects of it that are taken apart again."""
        payload = self._get_request_payload(messages, stop=stop, **kwargs)
        aside = payload.pop("extra_body")
        answer = await self.root_async_client.post(
            "/chat/completions", cast_to=str, body={**payload, **aside}
        )
        return self._create_chat_result(json.loads(answer))

    def _create_chat_result(
        self, response: dict[str, Any] | OpenAIModel, generation_info: dict[str, Any] | None = None
    ) -> ChatResult:
        wire = response if isinstance(response, dict) else {}
        sent = [choice["message"] for choice in wire.get("choices") or ()]
        raw_calls = [message.pop("tool_calls", None) or [] for message in sent]
        result: ChatResult = super()._create_chat_result(response, generation_info)
        for generation, said, calls in zip(result.generations, sent, raw_calls, strict=True):
            message = generation.message
            message.additional_kwargs[RAW_CALLS] = [_whole_call(call) for call in calls]
            _keep_reasoning(message, said)
            _keep_cached_tokens(message, wire.get("usage"))
        return result

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        """A stream that ends without a finish reason was cut off, even where the connection closed cleanly."""
        finished = False
        async for chunk in super()._astream(*args, **kwargs):
            finished = finished or bool((chunk.generation_info or {}).get("finish_reason"))
            yield chunk
        if not finished:
            raise CallFailed("connection", "the stream ended before the answer did")

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        choices = chunk.get("choices") or []
        delta = (choices[0].get("delta") if choices else None) or {}
        if delta.get("tool_calls"):
            delta["tool_calls"] = [_call_delta(call, at) for at, call in enumerate(delta["tool_calls"])]
        generation = super()._convert_chunk_to_generation_chunk(
            chunk, default_chunk_class, base_generation_info
        )
        if generation is not None and isinstance(generation.message, AIMessageChunk):
            _keep_reasoning(generation.message, delta)
            if delta.get("refusal"):
                generation.message.additional_kwargs["refusal"] = delta["refusal"]
            _keep_cached_tokens(generation.message, chunk.get("usage"))
        return generation


def _keep_reasoning(message: BaseMessage, wire: Mapping[str, Any]) -> None:
    for name in _REASONING_FIELDS:
        if isinstance(text := wire.get(name), str) and text:
            message.additional_kwargs[REASONING] = text
            return


def _keep_cached_tokens(message: BaseMessage, usage: Mapping[str, Any] | None) -> None:
    cached = (usage or {}).get("prompt_cache_hit_tokens")
    if cached and isinstance(message, AIMessage) and message.usage_metadata:
        details = message.usage_metadata.setdefault("input_token_details", {})
        details.setdefault("cache_read", cached)


def _whole_call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call.get("function") or {}
    return {"id": call.get("id"), "name": function.get("name"), "arguments": function.get("arguments")}


def _call_delta(call: Mapping[str, Any], position: int) -> dict[str, Any]:
    """A piece of a call with every field that LangChain asks for; without an index it would drop the piece."""
    function = dict(call.get("function") or {})
    arguments = function.get("arguments")
    if arguments is not None and not isinstance(arguments, str):
        function["arguments"] = json.dumps(arguments, ensure_ascii=False)
    index = call.get("index")
    return {**call, "function": function, "index": position if index is None else index}
