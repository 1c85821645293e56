"""One request to one model, streamed or plain. No retries: whatever goes wrong is raised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableConfig

from nodes.model_answer import REASONING, Answer, AnswerCollector, from_message
from nodes.model_telemetry import request_span
from nodes.models import Models
from nodes.reasoning_text import ThinkFilter, without_reasoning
from nodes.settings import Role

if TYPE_CHECKING:
    from nodes.endpoint import TextSink

_UNSEEN: RunnableConfig = {"tags": ["nostream"]}
"""Keeps the request out of message streams: what is shown is chosen by `nodes.answer_stream` alone."""


@dataclass(frozen=True)
class Request:
    """What is sent, to whom."""

    role: Role
    model: str
    messages: Sequence[BaseMessage]
    parameters: Mapping[str, Any]
    attempt: int


async def send(models: Models, request: Request, sink: TextSink | None) -> Answer:
    """Send a request; with a sink as a stream, whose visible text is fed to it as it comes."""
    with request_span(request.role, request.model, request.parameters, request.attempt) as span:
        answer = await (_plain(models, request) if sink is None else _streamed(models, request, sink))
        span.answered(answer)
    return answer


async def _plain(models: Models, request: Request) -> Answer:
    chat = models.chat(request.role, request.model)
    # `stream=False` says so even where a stream handler is attached to the run: LangChain would stream else.
    message = await chat.ainvoke(_history(models, request), _UNSEEN, stream=False, **request.parameters)
    quirks = models.quirks(request.model)
    answer = from_message(message)
    text, reasoning = without_reasoning(answer.text, unopened=quirks.leaves_think_unopened)
    return replace(answer, text=text, reasoning=answer.reasoning or reasoning)


async def _streamed(models: Models, request: Request, sink: TextSink) -> Answer:
    chat = models.chat(request.role, request.model)
    quirks = models.quirks(request.model)
    parameters = dict(request.parameters)
    usage = bool(parameters.pop("stream_options", False))
    collector = AnswerCollector()
    thinking = ThinkFilter(unopened=quirks.leaves_think_unopened)
    async for chunk in chat.astream(_history(models, request), _UNSEEN, stream_usage=usage, **parameters):
        shown = thinking.feed(collector.add(chunk))
        if thinking.late:
            thinking.late, quirks.leaves_think_unopened = False, True
            sink.restart()
        sink.feed(shown)
    sink.feed(thinking.flush())
    answer = collector.answer()
    text = thinking.visible if answer.text else ""  # a content filter takes the text back
    return replace(answer, text=text, reasoning=answer.reasoning or thinking.reasoning)


def _history(models: Models, request: Request) -> list[BaseMessage]:
    """The messages, with their reasoning text where the model demands it back, and without it elsewhere."""
    demanded = models.quirks(request.model).demands_reasoning
    return [_with_reasoning(models, message, demanded) for message in request.messages]


def _with_reasoning(models: Models, message: BaseMessage, demanded: bool) -> BaseMessage:
    if not isinstance(message, AIMessage) or not (demanded or REASONING in message.additional_kwargs):
        return message
    kept = {name: value for name, value in message.additional_kwargs.items() if name != REASONING}
    if demanded:
        # Unknown after a restart; the field itself is what endpoints insist on.
        kept[REASONING] = models.reasoning.get(str(message.id), "")
    return message.model_copy(update={"additional_kwargs": kept})
