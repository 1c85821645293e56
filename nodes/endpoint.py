"""Ask a model. The one owner of retries, time limits, fallbacks and the oddities of endpoints (O1).

    reply = await ask(models, "chat", messages, tools=schemas, deadline=turn["deadline"])
    reply.message        # AIMessage; what could not be read as a call stands in invalid_tool_calls

Who retries what: this module retries requests; the client below it and the graph above it never do.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol
from uuid import uuid4

import structlog
from langchain_core.messages import AIMessage, BaseMessage
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_random_exponential

from memory.masking import mask
from memory.tokens import count, count_messages
from nodes.endpoint_errors import (
    CallFailed,
    ContextOverflow,
    ModelUnavailable,
    classify,
    context_limit,
)
from nodes.model_answer import Answer, CallUsage
from nodes.model_quirks import refused_parameter
from nodes.model_request import Request, send
from nodes.models import Models
from nodes.settings import Role

__all__ = ["CallUsage", "ContextOverflow", "ModelCall", "ModelReply", "ModelUnavailable", "TextSink", "ask"]

log = structlog.get_logger(__name__)


class TextSink(Protocol):
    """Somebody who watches the answer being written."""

    @property
    def message_id(self) -> str:
        """Id of the message that is being written."""

    def feed(self, text: str) -> None:
        """A further piece of the answer."""

    def restart(self) -> None:
        """What was fed so far, if anything, is void: the answer begins anew, as another message."""


@dataclass(frozen=True)
class ModelCall:
    """One request that was answered, for the ledger."""

    model: str
    usage: CallUsage
    seconds: float


@dataclass(frozen=True)
class ModelReply:
    """What a model answered, and what that took."""

    message: AIMessage
    """Says nothing (no text, no calls) where the model was silent or refused twice: see `refusal`."""
    model: str
    seconds: float
    """From the question to the answer, waits included."""
    attempts: int
    """Requests made, the failed ones included."""
    calls: Sequence[ModelCall]
    """Requests that were answered: the last is the reply's, any before it was discarded."""

    @property
    def usage(self) -> CallUsage:
        """Tokens of all calls together."""
        return sum((call.usage for call in self.calls), CallUsage(0, 0))

    @property
    def refusal(self) -> str | None:
        """The model's, or the content filter's, words where it refused."""
        return self.message.additional_kwargs.get("refusal")

    @property
    def says_nothing(self) -> bool:
        message = self.message
        return not (message.text.strip() or message.tool_calls or message.invalid_tool_calls)


async def ask(
    models: Models,
    role: Role,
    messages: Sequence[BaseMessage],
    *,
    deadline: float,
    tools: Sequence[Mapping[str, Any]] | None = None,
    tool_choice: Mapping[str, Any] | str | None = None,
    response_format: Mapping[str, Any] | None = None,
    max_tokens: int | None = None,
    on_text: TextSink | None = None,
    message_id: str | None = None,
) -> ModelReply:
    """The answer of the role's model, or of the next one that works.

    `deadline` is in Unix seconds and bounds everything, retries and waits included; each request is bounded by
    the role's time limit too, and a small role takes no longer than two such limits in all. With `on_text` the
    answer is streamed, and its message gets the sink's id; else it gets `message_id`, or a new one. `tools` and
    `response_format` are written as the OpenAI API has them.

    Raises ModelUnavailable (nothing answered in time) and ContextOverflow (the request is too long).
    """
    parameters: dict[str, Any] = {"temperature": models.settings.temperature(role)}
    if tools:
        parameters["tools"] = list(tools)
        if tool_choice is None:
            parameters["parallel_tool_calls"] = True
    if role != "chat":
        deadline = min(deadline, time.time() + 2 * models.settings.timeout(role))
    optional = {"tool_choice": tool_choice, "response_format": response_format, "max_tokens": max_tokens}
    parameters |= {name: value for name, value in optional.items() if value is not None}
    asking = _Asking(
        models, role, messages, parameters, deadline, on_text, message_id or f"model-{uuid4().hex}"
    )
    return await asking.run()


class _Asking:
    """One question on its way through requests, waits and models."""

    def __init__(
        self,
        models: Models,
        role: Role,
        messages: Sequence[BaseMessage],
        parameters: Mapping[str, Any],
        deadline: float,
        sink: TextSink | None,
        message_id: str,
    ) -> None:
        self._models = models
        self._role: Role = role
        self._messages = messages
        self._parameters = parameters
        self._deadline = deadline
        self._sink = sink
        self._message_id = message_id
        self._started = time.time()
        self._attempts = 0
        self._calls: list[ModelCall] = []
        self._asked_again = False
        self._streaming = sink is not None

    async def run(self) -> ModelReply:
        names = self._models.names(self._role)
        failures: list[tuple[str, CallFailed]] = []
        for position, name in enumerate(names):
            if self._remaining() <= 0:
                break
            try:
                answer = await self._ask_one(name, others=len(names) - position - 1)
            except CallFailed as error:
                failure = error
            else:
                return self._reply(name, answer)
            failures.append((name, failure))
            self._log(failure, name, gives_up=True)
            if failure.kind == "overflow":
                raise ContextOverflow(name, context_limit(failure.detail)) from None
            if failure.status in (401, 402):
                break  # every model has the same key
        if failures and failures[-1][1].kind == "content_refused":
            return self._reply(failures[-1][0], Answer(refusal="content filter"))
        raise ModelUnavailable(self._role, failures)

    async def _ask_one(self, name: str, *, others: int) -> Answer:
        """Ask one model, again and again as long as that may help."""
        backoff = self._models.backoff
        random_wait = wait_random_exponential(backoff.first, backoff.most)

        def wait(state: RetryCallState) -> float:
            asked = _failure(state).retry_after or 0.0
            return max(asked, random_wait(state))

        def stop(state: RetryCallState) -> bool:
            spent = state.attempt_number >= backoff.attempts_of(self._role)
            too_late = state.upcoming_sleep >= self._remaining()
            impatient = others > 0 and (
                _failure(state).kind == "timeout" or state.upcoming_sleep > backoff.patience
            )
            return spent or too_late or impatient

        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, CallFailed) and error.transient),
            wait=wait,
            stop=stop,
            before_sleep=lambda state: self._log(_failure(state), name, wait=state.upcoming_sleep),
            reraise=True,
        )
        return await retrying(self._attempt, name, others)

    async def _attempt(self, name: str, others: int) -> Answer:
        """One attempt: a request, repeated at once where the model only minds a parameter, or says nothing."""
        suspected: set[str] = set()
        quirks = self._models.quirks(name)
        while True:
            sent = quirks.fitted(self._parameters, frozenset(suspected))
            if self._streaming and "stream_options" not in quirks.refused | suspected:
                sent["stream_options"] = True
            try:
                answer = await self._request(name, sent, others)
            except CallFailed as failure:
                parameter = refused_parameter(failure, sent)
                if parameter and parameter not in suspected:
                    suspected.add(parameter)
                elif failure.kind == "reasoning_demanded" and not quirks.demands_reasoning:
                    quirks.demands_reasoning = True
                else:
                    raise
                self._log(failure, name, dropped=parameter)
                continue
            quirks.refused |= suspected
            if not answer.says_nothing or self._asked_again:
                return answer
            self._asked_again = True

    async def _request(self, name: str, sent: Mapping[str, Any], others: int) -> Answer:
        """One request, within its share of the time; what it fed to a watcher is void when it fails."""
        self._attempts += 1
        remaining = self._remaining()
        limit = min(self._models.settings.timeout(self._role), remaining / 2 if others else remaining)
        request = Request(self._role, name, self._messages, sent, self._attempts)
        sink = self._sink if self._streaming else None
        started = time.perf_counter()
        try:
            async with asyncio.timeout(limit):
                answer = await send(self._models, request, sink)
        except Exception as error:
            if sink:
                sink.restart()
            failure = classify(error)
            if failure.kind == "connection":
                self._streaming = False  # what cannot hold a stream may still manage a plain answer
            if failure.kind == "unexpected":
                log.exception("model client failed", role=self._role, model=name)
            raise failure from error
        if answer.says_nothing and sink:
            sink.restart()
        usage = answer.usage or self._estimate(name, sent, answer)
        self._calls.append(ModelCall(answer.model or name, usage, time.perf_counter() - started))
        return answer

    def _reply(self, name: str, answer: Answer) -> ModelReply:
        named = answer if answer.model else replace(answer, model=name)
        message = named.message(self._sink.message_id if self._sink else self._message_id)
        if answer.reasoning:
            self._models.reasoning[str(message.id)] = answer.reasoning
        return ModelReply(message, name, time.time() - self._started, self._attempts, tuple(self._calls))

    def _estimate(self, name: str, sent: Mapping[str, Any], answer: Answer) -> CallUsage:
        """Token figures where the endpoint gives none (marked as estimated)."""
        tools = json.dumps(sent["tools"], ensure_ascii=False) if "tools" in sent else ""
        written = [answer.text, answer.reasoning, *(call.name + call.text for call in answer.calls)]
        return CallUsage(
            count_messages(self._messages, name) + count(tools, name),
            sum(count(text, name) for text in written),
            estimated=True,
        )

    def _remaining(self) -> float:
        return self._deadline - time.time()

    def _log(self, failure: CallFailed, model: str, **more: object) -> None:
        log.warning(
            "model request failed",
            role=self._role,
            model=model,
            kind=failure.kind,
            status=failure.status,
            detail=mask(failure.detail),
            attempt=self._attempts,
            **more,
        )


def _failure(state: RetryCallState) -> CallFailed:
    assert state.outcome is not None, "asked only after an attempt"
    error = state.outcome.exception()
    assert isinstance(error, CallFailed), "an attempt raises nothing else"
    return error
