"""What an exception from a tool means: its kind, whether another try may help, whether it may have taken effect.

The texts here reach the model, so they are the engine's own. Only a BusinessError speaks for itself; what any
other exception says (addresses, tokens, internals) stays in the log, under the error's id.
"""

from __future__ import annotations

import asyncio
import email.utils
import socket
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import httpx
import psycopg
import psycopg_pool
from langgraph.errors import GraphBubbleUp

from memory.masking import find
from tools.errors import BusinessError, ErrorKind, TransientError


class TimedOut(Exception):
    """The engine's own time limit of a call ran out."""


_NOT_PROCESSED: Final = frozenset({429, 503})
"""HTTP answers that say that the request was turned away."""
_TRANSIENT_STATUS: Final = _NOT_PROCESSED | {502, 504}
_CANNOT_CONNECT: Final = frozenset({"08001", "08004", "53300", "57P03"})
"""SQLSTATE of a connection that never stood."""
_TIMEOUTS: Final = (TimedOut, TimeoutError, httpx.TimeoutException, psycopg.errors.QueryCanceled)
_NEVER_SENT: Final = (
    ConnectionRefusedError,
    socket.gaierror,
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    psycopg_pool.PoolTimeout,
)
_UNREACHABLE: Final = (ConnectionError, socket.gaierror, httpx.TransportError, psycopg.OperationalError)


@dataclass(frozen=True)
class Failure:
    """What went wrong with one attempt of one call."""

    kind: ErrorKind
    description: str
    transient: bool = False
    """The same call may succeed a moment later."""
    without_effect: bool = False
    """It is certain that nothing was done."""
    begun: bool = True
    """False: the engine itself did not let it run."""
    retry_after: float = 0.0
    """Seconds that the other side asked to wait."""
    try_next: str | None = None
    error_id: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    """Finds the exception in the log."""

    @property
    def is_business(self) -> bool:
        """The tool works, and said no."""
        return self.kind in ("business", "not_found")


def classify(error: BaseException, tool: str) -> Failure:
    """The failure that an exception of a tool stands for."""
    error = _first(error)
    if isinstance(error, BusinessError):
        return Failure(error.kind, _without_secrets(str(error)), without_effect=True, try_next=error.try_next)
    if isinstance(error, asyncio.CancelledError):
        return Failure("cancelled", f"{tool} was cut off before it had finished.")
    if isinstance(error, TransientError):
        return Failure("unavailable", _unavailable(tool), transient=True, without_effect=True)
    for cause in _causes(error):
        if isinstance(cause, _TIMEOUTS):
            return Failure(
                "timeout",
                f"{tool} did not answer in time.",
                transient=True,
                without_effect=isinstance(cause, _NEVER_SENT),
            )
        status = _http_status(cause)
        if status in _TRANSIENT_STATUS:
            return Failure(
                "unavailable",
                _unavailable(tool),
                transient=True,
                without_effect=status in _NOT_PROCESSED,
                retry_after=_retry_after(cause),
            )
        if isinstance(cause, _UNREACHABLE):
            return Failure(
                "unavailable", _unavailable(tool), transient=True, without_effect=_never_sent(cause)
            )
    return internal(tool)


def internal(tool: str) -> Failure:
    """A fault of the tool or of the engine; the model learns no more than the id under which it is logged."""
    error_id = uuid.uuid4().hex[:12]
    return Failure("internal", f"{tool} failed for an internal reason (error {error_id}).", error_id=error_id)


def bubbles_up(error: BaseException) -> GraphBubbleUp | None:
    """The graph's own signal (an interrupt, a command to the parent) in an exception, which no guard may keep."""
    if isinstance(error, GraphBubbleUp):
        return error
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(bubbles_up, error.exceptions)), None)
    return None


def _without_secrets(text: str) -> str:
    """A tool's own words, which may quote what it was told; contacts and numbers in them are meant for the model."""
    for finding in reversed(find(text)):
        if finding.kind == "secret":
            text = f"{text[: finding.start]}[secret]{text[finding.end :]}"
    return text


def _unavailable(tool: str) -> str:
    return f"{tool} cannot be reached at the moment."


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception and what it was raised from: client libraries wrap what really happened."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__


def _never_sent(error: BaseException) -> bool:
    return isinstance(error, _NEVER_SENT) or getattr(error, "sqlstate", None) in _CANNOT_CONNECT


def _http_status(error: BaseException) -> int | None:
    """The status of an HTTP client's exception, whichever client it is."""
    response = getattr(error, "response", None)
    for source, name in ((response, "status_code"), (error, "status_code"), (error, "status")):
        value = getattr(source, name, None)
        if isinstance(value, int):
            return value
    return None


def _retry_after(error: BaseException) -> float:
    """Seconds from a Retry-After header, given in seconds or as a date; 0 without one."""
    source = getattr(error, "response", None)
    headers = getattr(error if source is None else source, "headers", None) or {}
    value = headers.get("retry-after") or headers.get("Retry-After")
    if value is None:
        return 0.0
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.0
