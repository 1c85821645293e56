"""What goes wrong at a model endpoint, told apart by what helps.

StewardError
└── ModelError
    ├── ModelUnavailable     no model answered in time; the turn ends politely
    ├── ContextOverflow      the request is too long for the model; assemble it tighter
    └── StructuredFailure    a role did not answer in its form (nodes.structured)

`CallFailed` is what one request met with; `nodes.endpoint` alone sees it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from memory.errors import StewardError

FailureKind = Literal[
    "timeout",
    "connection",
    "rate_limited",
    "server",
    "malformed",
    "refused_parameter",
    "reasoning_demanded",
    "overflow",
    "content_refused",
    "wrong_key",
    "no_credit",
    "unknown_model",
    "bad_request",
    "unexpected",
]
TRANSIENT: frozenset[FailureKind] = frozenset(
    {"timeout", "connection", "rate_limited", "server", "malformed"}
)

_ADVICE: Mapping[FailureKind, str] = {
    "timeout": "it was too slow; raise STEWARD_<ROLE>_TIMEOUT or name a faster model",
    "connection": "it could not be reached, or broke off; check OPENAI_BASE_URL and the network",
    "rate_limited": "it is rate-limited; raise the quota or name models in STEWARD_FALLBACK_MODELS",
    "server": "it failed; look at the endpoint's own log",
    "malformed": "what it sent is no chat completion; check that OPENAI_BASE_URL ends where the API begins (/v1)",
    "wrong_key": "it refused the key; check OPENAI_API_KEY",
    "no_credit": "the account has no credit left; top it up",
    "unknown_model": "it does not know the model; check the STEWARD_*_MODEL settings and OPENAI_BASE_URL",
    "content_refused": "its content filter refused the conversation",
    "bad_request": "it refused the request; the log has its words",
    "refused_parameter": "it refused a parameter that is needed; the log has its words",
    "reasoning_demanded": "it demands reasoning text that is not known any more; start a new thread",
    "overflow": "the request is too long for it",
    "unexpected": "the client failed in an unforeseen way; the log has the error",
}


class ModelError(StewardError):
    """Root of the errors of model endpoints."""


@dataclass(eq=False)
class CallFailed(Exception):
    """One request to one model failed."""

    kind: FailureKind
    detail: str = ""
    """In the endpoint's words, shortened. For the log only: it may quote the conversation."""
    status: int | None = None
    parameter: str | None = None
    """The request field that the endpoint objects to, where it names one."""
    retry_after: float | None = None
    """Seconds that the endpoint asks to wait."""

    @property
    def transient(self) -> bool:
        return self.kind in TRANSIENT


class ModelUnavailable(ModelError):
    """No model answered. The message says why for each, and what to do; it quotes nobody's words."""

    def __init__(self, role: str, failures: Sequence[tuple[str, CallFailed]]) -> None:
        said = "; ".join(f"{model}: {_ADVICE[failure.kind]}" for model, failure in failures)
        super().__init__(f"No model answered for the role {role}. {said or 'No time was left to ask one'}.")
        self.role = role
        self.failures = tuple(failures)


class ContextOverflow(ModelError):
    """The request is longer than the model's context window; assemble it tighter and ask again, once."""

    def __init__(self, model: str, limit: int | None) -> None:
        window = f" of {limit} tokens" if limit else ""
        super().__init__(f"The request exceeds the window{window} of {model}; lower STEWARD_CONTEXT_TOKENS.")
        self.limit = limit
        """The window in tokens, where the endpoint tells it."""


def context_limit(detail: str) -> int | None:
    """The window in tokens that an overflow error names, if it does."""
    found = re.search(
        r"(?:maximum context length is|context size[^\d]{0,20}|limit of)\s*\(?(\d{3,8})", detail
    )
    return int(found[1]) if found else None


def classify(error: Exception) -> CallFailed:
    """What an exception of the chat client means."""
    if isinstance(error, CallFailed):
        return error
    if isinstance(error, TimeoutError):
        return CallFailed("timeout", "no answer within the time limit")
    import openai  # costs half a second: loaded only where a client has already done so, or something failed

    detail = _shortened(str(error))
    if isinstance(error, openai.APITimeoutError):
        return CallFailed("timeout", detail)
    if isinstance(error, openai.APIStatusError):
        return _by_status(error.status_code, error.body, str(error), error.response.headers)
    if isinstance(error, openai.APIConnectionError):
        return CallFailed("connection", detail)
    if isinstance(error, openai.APIError):  # an error event inside a stream
        return _by_status(_status_in(error.body), error.body, str(error), {})
    if isinstance(error, OSError):
        return CallFailed("connection", detail)
    if isinstance(error, (ValueError, TypeError, LookupError, AttributeError)):
        return CallFailed("malformed", detail)
    return CallFailed("unexpected", f"{type(error).__name__}: {detail}")


_OVERFLOW = re.compile(
    r"context[ _]length|maximum context|context window|context[ _]?size|contextwindow|prompt is too long"
    r"|input is too long|too many (input )?tokens|reduce the length|exceeded model token limit"
    r"|range of input length|input tokens exceed|request too large",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"content_filter|content management policy|data_inspection_failed|inappropriate content"
    r"|content exists risk|content_policy_violation|safety system",
    re.IGNORECASE,
)
_NO_CREDIT = re.compile(r"insufficient_quota|insufficient balance|exceeded your current quota", re.IGNORECASE)
_REASONING = re.compile(
    r"reasoning_content.{0,80}(must|required|missing|passed back)", re.IGNORECASE | re.DOTALL
)
_BY_STATUS: Mapping[int, FailureKind] = {
    401: "wrong_key",
    402: "no_credit",
    403: "wrong_key",
    404: "unknown_model",
    408: "timeout",
    409: "server",
    413: "overflow",
    425: "server",
    429: "rate_limited",
}


def _by_status(status: int | None, body: object, text: str, headers: Mapping[str, str]) -> CallFailed:
    fields = _error_fields(body)
    said = " ".join([text, *(str(fields[key]) for key in ("message", "code", "type") if fields.get(key))])
    parameter = fields.get("param")
    return CallFailed(
        _kind(status, said),
        _shortened(str(fields.get("message") or text)),
        status,
        parameter if isinstance(parameter, str) else None,
        _retry_after(headers),
    )


def _kind(status: int | None, said: str) -> FailureKind:
    if status in (402, 429) and _NO_CREDIT.search(said):
        return "no_credit"
    if status in (400, 413, 422, None, 500) and _OVERFLOW.search(
        said
    ):  # llama.cpp's older servers answer 500
        return "overflow"
    if status in (400, 403, 422, None) and _FILTERED.search(said):
        return "content_refused"
    if status in (400, 422):
        return "reasoning_demanded" if _REASONING.search(said) else "bad_request"
    if status is None or status >= 500:
        return "server"
    return _BY_STATUS.get(status, "bad_request")


def _error_fields(body: object) -> Mapping[str, Any]:
    if not isinstance(body, dict):
        return {}
    inner = body.get("error")
    return inner if isinstance(inner, dict) else body


def _status_in(body: object) -> int | None:
    code = _error_fields(body).get("code")
    return code if isinstance(code, int) and 400 <= code < 600 else None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, from `retry-after-ms` or `retry-after` (a number or an HTTP date)."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if value is None or (seconds := _number(value)) is not None:
        return seconds if value is not None else None
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (moment.astimezone(UTC) - datetime.now(UTC)).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and 0 <= value < float("inf") else None


def _shortened(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:300]}…"
