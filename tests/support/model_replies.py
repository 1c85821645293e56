"""What the scripted model endpoint may answer, and short ways to say it.

Reply(text="您好")                                     an answer
tool_call("order_query", {"order_id": "ABC-1"})        one call
tool_call("order_query", '{"order_id": "AB')           a call whose argument text is cut
router_reply(request, ("order", 0.93))                 a role's JSON, in the form the request asks for
rate_limited(retry_after=1)                            an error of the endpoint
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

Request = dict[str, Any]


@dataclass(frozen=True)
class Usage:
    """Token figures as the provider reports them."""

    prompt: int
    completion: int
    cached: int = 0
    reasoning: int = 0

    def on_the_wire(self) -> dict[str, Any]:
        return {
            "prompt_tokens": self.prompt,
            "completion_tokens": self.completion,
            "total_tokens": self.prompt + self.completion,
            "prompt_tokens_details": {"cached_tokens": self.cached},
            "completion_tokens_details": {"reasoning_tokens": self.reasoning},
        }


@dataclass(frozen=True)
class Call:
    """A tool call. Arguments given as text go out as they are; None sends a JSON null."""

    name: str
    arguments: dict[str, Any] | str | None
    id: str | None = "auto"
    """`auto`: a fresh one; None: the field is missing."""

    @property
    def argument_text(self) -> str | None:
        if self.arguments is None or isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True)
class Reply:
    """One answer of the endpoint. Everything that is left alone is as a well-behaved provider does it."""

    text: str | list[dict[str, Any]] | None = None
    calls: Sequence[Call] = ()
    reasoning: str | None = None
    """Sent as `reasoning_content`."""
    refusal: str | None = None
    finish_reason: str | None = "auto"
    """`auto`: `tool_calls` or `stop`; None: never sent, as when the stream just ends."""
    usage: Usage | str | None = "auto"
    """`auto`: counted roughly; None: the provider gives none."""
    delay: float = 0.0
    """Seconds before the first byte."""
    pause: float = 0.0
    """Seconds between the chunks of a stream."""
    drop_after: int | None = None
    """The connection breaks after this many chunks; without streaming, in the middle of the body."""
    same_index: bool = False
    """Parallel calls all carry index 0, as some servers have it."""
    pieces: Sequence[str] | None = None
    """The text as it is cut into chunks; None: every five characters."""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    error: dict[str, Any] | None = None
    body: bytes | None = None
    """Sent as it is in place of everything else."""


def tool_call(name: str, arguments: dict[str, Any] | str | None = None, *, text: str | None = None) -> Reply:
    """A message with one call, and text beside it where there is some."""
    return Reply(text=text, calls=(Call(name, {} if arguments is None else arguments),))


def tool_calls(*calls: tuple[str, dict[str, Any] | str | None]) -> Reply:
    """A message with several calls at once."""
    return Reply(calls=tuple(Call(name, arguments) for name, arguments in calls))


def structured(request: Request, answer: dict[str, Any], *, usage: Usage | str | None = "auto") -> Reply:
    """A role's JSON: as the forced call where the request forces one, else as bare content."""
    choice = request.get("tool_choice")
    if isinstance(choice, dict):
        return Reply(calls=(Call(choice["function"]["name"], answer),), usage=usage)
    return Reply(text=json.dumps(answer, ensure_ascii=False), usage=usage)


def router_reply(request: Request, *intents: tuple[str, float]) -> Reply:
    found = [{"name": name, "confidence": confidence} for name, confidence in intents]
    return structured(request, {"intents": found})


def reviewer_reply(request: Request, *, revised: str | None = None, problems: Sequence[str] = ()) -> Reply:
    verdict = "ORIGINAL_ANSWER" if revised is None else "REVISED"
    return structured(request, {"verdict": verdict, "problems": list(problems), "answer": revised})


def extractor_reply(request: Request, *memories: dict[str, Any]) -> Reply:
    return structured(request, {"memories": list(memories)})


def summariser_reply(request: Request, summary: str, **key_facts: str) -> Reply:
    return structured(request, {"summary": summary, "key_facts": key_facts})


def compactor_reply(request: Request, digest: dict[str, Any]) -> Reply:
    return structured(request, {"digest": digest})


def failure(
    status: int, message: str, *, code: str | None = None, param: str | None = None, **headers: str
) -> Reply:
    """An HTTP error with OpenAI's error object. Header names are written with underscores."""
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return Reply(status=status, error=error, headers={k.replace("_", "-"): v for k, v in headers.items()})


def rate_limited(retry_after: float | str | None = None) -> Reply:
    reply = failure(429, "Rate limit reached", code="rate_limit_exceeded")
    return reply if retry_after is None else replace(reply, headers={"retry-after": str(retry_after)})


def server_error(status: int = 500) -> Reply:
    return failure(status, "The server had an error while processing your request")


def wrong_key() -> Reply:
    return failure(401, "Incorrect API key provided: sk-abc***xyz.", code="invalid_api_key")


def unknown_model(name: str) -> Reply:
    return failure(404, f"The model `{name}` does not exist", code="model_not_found")


def context_overflow(limit: int = 8192) -> Reply:
    return failure(
        400,
        f"This model's maximum context length is {limit} tokens. Please reduce the length of the messages.",
        code="context_length_exceeded",
        param="messages",
    )


def refused_parameter(name: str) -> Reply:
    return failure(
        400,
        f"Unsupported parameter: '{name}' is not supported with this model.",
        code="unsupported_parameter",
        param=name,
    )


def dropped(text: str, *, after: int = 2) -> Reply:
    """An answer whose connection breaks after some chunks."""
    return Reply(text=text, drop_after=after)


def empty() -> Reply:
    return Reply(text="")


def refusal(text: str) -> Reply:
    return Reply(text=None, refusal=text)
