"""One span and two measurements for each model request, under OpenTelemetry's GenAI names (O5)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry import metrics, trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from nodes.endpoint_errors import classify
from nodes.model_answer import Answer
from nodes.settings import Role

_tracer = trace.get_tracer("steward.models")
_meter = metrics.get_meter("steward.models")
# The bounds are those of the conventions.
_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)
_duration = _meter.create_histogram(
    "gen_ai.client.operation.duration",
    "s",
    "Time of a model request",
    explicit_bucket_boundaries_advisory=_SECONDS,
)
_tokens = _meter.create_histogram(
    "gen_ai.client.token.usage",
    "{token}",
    "Tokens of a model request",
    explicit_bucket_boundaries_advisory=_TOKENS,
)


class RequestSpan:
    """Takes the answer of the request that it stands for."""

    def __init__(self, span: Span, attributes: dict[str, Any]) -> None:
        self._span = span
        self._attributes = attributes

    def answered(self, answer: Answer) -> None:
        if answer.model:
            self._span.set_attribute("gen_ai.response.model", answer.model)
        if answer.finish_reason:
            self._span.set_attribute("gen_ai.response.finish_reasons", [answer.finish_reason])
        if answer.usage:
            self._count("input", answer.usage.prompt_tokens)
            self._count("output", answer.usage.completion_tokens)
            self._span.set_attribute("gen_ai.usage.cache_read.input_tokens", answer.usage.cached_tokens)

    def _count(self, direction: str, tokens: int) -> None:
        self._span.set_attribute(f"gen_ai.usage.{direction}_tokens", tokens)
        _tokens.record(tokens, {**self._attributes, "gen_ai.token.type": direction})


@contextmanager
def request_span(
    role: Role, model: str, parameters: Mapping[str, Any], attempt: int
) -> Iterator[RequestSpan]:
    """A client span `chat MODEL` around one request. Neither prompt nor answer goes into it."""
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": model,
        "steward.role": role,
    }
    started = time.perf_counter()
    measured = dict(attributes)
    with _tracer.start_as_current_span(
        f"chat {model}",
        kind=SpanKind.CLIENT,
        attributes={**attributes, "steward.attempt": attempt},
        record_exception=False,  # its text may quote the conversation
        set_status_on_exception=False,
    ) as span:
        if "temperature" in parameters:
            span.set_attribute("gen_ai.request.temperature", parameters["temperature"])
        try:
            yield RequestSpan(span, attributes)
        except Exception as error:
            measured["error.type"] = classify(error).kind
            span.set_attribute("error.type", measured["error.type"])
            span.set_status(Status(StatusCode.ERROR, measured["error.type"]))
            raise
        finally:
            _duration.record(time.perf_counter() - started, measured)
