"""What one request brought back, read without loss: text, calls as written, reasoning, refusal, figures."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from langchain_core.messages import AIMessage, AIMessageChunk, InvalidToolCall, ToolCall
from langchain_core.messages.ai import UsageMetadata

from nodes.reasoning_text import split_blocks
from tools.json_text import CUT_OFF, Unreadable
from tools.repair import plain_object
from tools.spec import Arguments

RAW_CALLS = "raw_tool_calls"
"""Where `nodes.openai_chat` leaves calls as they came over the wire."""
REASONING = "reasoning_content"
FILTERED = "content_filter"
CUT = "length"


@dataclass(frozen=True)
class CallUsage:
    """Tokens of one or more calls. `cached` is part of the prompt, `reasoning` part of the completion."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    estimated: bool = False
    """The endpoint gave no figures."""

    def __add__(self, other: CallUsage) -> CallUsage:
        return CallUsage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True)
class WrittenCall:
    """A tool call as the model wrote it."""

    id: str | None
    name: str
    text: str
    """The argument text, untouched; empty where there was none."""


@dataclass(frozen=True)
class Answer:
    """One answer of a model."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    calls: Sequence[WrittenCall] = ()
    finish_reason: str | None = None
    usage: CallUsage | None = None
    model: str | None = None
    """As the endpoint names it."""

    @property
    def says_nothing(self) -> bool:
        """Empty, refused, or taken back by a content filter."""
        return bool(self.refusal) or not (self.text.strip() or self.calls)

    def message(self, message_id: str) -> AIMessage:
        """As a message: strictly readable calls in `tool_calls`, all others with their text as invalid ones."""
        cut = self.finish_reason == CUT
        read = [(call, _arguments(call, cut=cut)) for call in self.calls]
        usage = self.usage
        return AIMessage(
            self.text,
            id=message_id,
            tool_calls=[
                ToolCall(name=call.name, args=args, id=call.id)
                for call, args in read
                if not isinstance(args, Unreadable)
            ],
            invalid_tool_calls=[
                _invalid(call, fault) for call, fault in read if isinstance(fault, Unreadable)
            ],
            additional_kwargs={"refusal": self.refusal} if self.refusal else {},
            response_metadata={"model_name": self.model, "finish_reason": self.finish_reason},
            usage_metadata=_metadata(usage) if usage else None,
        )


def from_message(message: AIMessage) -> Answer:
    """A plain answer."""
    text, reasoning, refusal = split_blocks(message.content)
    return finished(
        Answer(
            text=text,
            reasoning=message.additional_kwargs.get(REASONING) or reasoning,
            refusal=message.additional_kwargs.get("refusal") or refusal,
            calls=tuple(_written_calls(message)),
            finish_reason=message.response_metadata.get("finish_reason"),
            usage=_usage(message.usage_metadata),
            model=message.response_metadata.get("model_name"),
        )
    )


def _written_calls(message: AIMessage) -> Iterator[WrittenCall]:
    if (raw := message.additional_kwargs.get(RAW_CALLS)) is not None:
        for call in raw:
            yield WrittenCall(call["id"], call["name"] or "", _as_text(call["arguments"]))
        return
    for call in message.tool_calls:
        yield WrittenCall(call["id"], call["name"], _as_text(call["args"]))
    for broken in message.invalid_tool_calls:
        yield WrittenCall(broken["id"], broken["name"] or "", _as_text(broken["args"]))


def finished(answer: Answer) -> Answer:
    """What a content filter took back counts as refused, whatever of it had been written."""
    if answer.finish_reason != FILTERED or answer.refusal:
        return answer
    return replace(answer, text="", calls=(), refusal="content filter")


class AnswerCollector:
    """Puts a streamed answer together, piece by piece."""

    def __init__(self) -> None:
        self._text = ""
        self._reasoning = ""
        self._refusal = ""
        self._calls: list[WrittenCall] = []
        self._open: dict[int, int] = {}
        self._finish_reason: str | None = None
        self._model: str | None = None
        self._usage: CallUsage | None = None

    def add(self, chunk: AIMessage) -> str:
        """Take in a piece, or the whole where a model cannot stream; its text."""
        text, reasoning, refusal = split_blocks(chunk.content)
        self._text += text
        self._reasoning += chunk.additional_kwargs.get(REASONING) or reasoning
        self._refusal += chunk.additional_kwargs.get("refusal") or refusal
        if isinstance(chunk, AIMessageChunk):
            for piece in chunk.tool_call_chunks:
                self._add_call(piece.get("index"), piece.get("id"), piece.get("name"), piece.get("args"))
        else:
            self._calls.extend(_written_calls(chunk))
        self._finish_reason = chunk.response_metadata.get("finish_reason") or self._finish_reason
        self._model = chunk.response_metadata.get("model_name") or self._model
        # Some endpoints repeat running totals in every chunk: the last counts, never the sum.
        self._usage = _usage(chunk.usage_metadata) or self._usage
        return text

    def answer(self) -> Answer:
        return finished(
            Answer(
                self._text,
                self._reasoning,
                self._refusal,
                tuple(self._calls),
                self._finish_reason,
                self._usage,
                self._model,
            )
        )

    def _add_call(self, index: int | str | None, id: str | None, name: str | None, text: str | None) -> None:
        slot = index if isinstance(index, int) else 0
        current = self._calls[self._open[slot]] if slot in self._open else None
        if current is None or _begins_another(current, id, name):
            self._open[slot] = len(self._calls)
            self._calls.append(WrittenCall(id, name or "", text or ""))
        else:
            self._calls[self._open[slot]] = WrittenCall(
                current.id or id, current.name or name or "", current.text + (text or "")
            )


def _begins_another(current: WrittenCall, id: str | None, name: str | None) -> bool:
    """Whether a piece under the same index is a new call: some servers number all parallel calls 0."""
    if not name:
        return False
    if id and current.id:
        return id != current.id
    return bool(current.text.strip()) and not isinstance(_arguments(current, cut=False), Unreadable)


def _arguments(call: WrittenCall, *, cut: bool) -> Arguments | Unreadable:
    """The arguments, where the text is a JSON object, or says that there are none and was not cut off."""
    if cut and not call.text.strip():
        return Unreadable(CUT_OFF)
    try:
        return plain_object(call.text)
    except Unreadable as fault:
        return fault


def _invalid(call: WrittenCall, fault: Unreadable) -> InvalidToolCall:
    return InvalidToolCall(
        type="invalid_tool_call", id=call.id, name=call.name, args=call.text, error=str(fault)
    )


def _as_text(arguments: object) -> str:
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _usage(usage: UsageMetadata | None) -> CallUsage | None:
    """The endpoint's figures; None where it gave none, or zeros."""
    if not usage or not usage["input_tokens"]:
        return None
    return CallUsage(
        usage["input_tokens"],
        usage["output_tokens"],
        usage.get("input_token_details", {}).get("cache_read") or 0,
        usage.get("output_token_details", {}).get("reasoning") or 0,
    )


def _metadata(usage: CallUsage) -> UsageMetadata:
    return UsageMetadata(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        total_tokens=usage.prompt_tokens + usage.completion_tokens,
        input_token_details={"cache_read": usage.cached_tokens},
        output_token_details={"reasoning": usage.reasoning_tokens},
    )
