"""What an exception of a tool means for the model, for another try, and for the breaker."""

from __future__ import annotations

import asyncio
import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import psycopg
import pytest

from tools.errors import BusinessError, TransientError
from tools.failures import TimedOut, classify

REQUEST = httpx.Request("GET", "https://orders.internal/7?token=sk-secret")


def answered(status: int, **headers: str) -> httpx.HTTPStatusError:
    response = httpx.Response(status, headers=headers, request=REQUEST)
    return httpx.HTTPStatusError(f"status {status}", request=REQUEST, response=response)


def caused_by(cause: BaseException) -> Exception:
    try:
        raise RuntimeError("the client gave up") from cause
    except RuntimeError as error:
        return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), "timeout"),
        (TimedOut("20 s"), "timeout"),
        (httpx.ReadTimeout("slow"), "timeout"),
        (psycopg.errors.QueryCanceled("statement timeout"), "timeout"),
        (ConnectionRefusedError(), "unavailable"),
        (ConnectionResetError(), "unavailable"),
        (BrokenPipeError(), "unavailable"),
        (socket.gaierror(-2, "Name or service not known"), "unavailable"),
        (httpx.ConnectError("refused"), "unavailable"),
        (httpx.RemoteProtocolError("closed"), "unavailable"),
        (psycopg.OperationalError("server closed the connection"), "unavailable"),
        (TransientError("overloaded"), "unavailable"),
        *[(answered(status), "unavailable") for status in (429, 502, 503, 504)],
        (caused_by(httpx.ReadTimeout("slow")), "timeout"),
        (caused_by(ConnectionResetError()), "unavailable"),
        (ExceptionGroup("several", [ConnectionResetError(), ValueError()]), "unavailable"),
    ],
)
def test_what_may_pass_is_transient(error: BaseException, kind: str) -> None:
    failure = classify(error, "order_query")
    assert (failure.kind, failure.transient, failure.is_business) == (kind, True, False)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("x"),
        KeyError("x"),
        answered(400),
        answered(401),
        answered(500),
        FileNotFoundError("x"),
        SystemExit(1),
        psycopg.errors.UniqueViolation("x"),
    ],
)
def test_what_another_try_would_not_mend_is_internal(error: BaseException) -> None:
    failure = classify(error, "order_query")
    assert (failure.kind, failure.transient, failure.without_effect) == ("internal", False, False)


def test_a_business_error_speaks_for_itself() -> None:
    failure = classify(BusinessError("No order X-1.", kind="not_found", try_next="Ask for the number."), "q")
    assert (failure.kind, failure.description, failure.try_next) == (
        "not_found",
        "No order X-1.",
        "Ask for the number.",
    )
    assert failure.is_business
    assert failure.without_effect


def test_a_cancellation_of_the_tools_own_is_one() -> None:
    assert classify(asyncio.CancelledError(), "q").kind == "cancelled"


@pytest.mark.parametrize(
    ("error", "certain"),
    [
        (ConnectionRefusedError(), True),
        (httpx.ConnectError("refused"), True),
        (httpx.ConnectTimeout("slow"), True),
        (answered(429), True),
        (answered(503), True),
        (TransientError("overloaded"), True),
        (ConnectionResetError(), False),
        (httpx.ReadTimeout("slow"), False),
        (httpx.ReadError("gone"), False),
        (answered(502), False),
        (answered(504), False),
        (TimedOut("20 s"), False),
        (RuntimeError("x"), False),
    ],
)
def test_whether_something_may_have_been_done_is_told_apart(error: BaseException, certain: bool) -> None:
    assert classify(error, "refund").without_effect is certain


def test_a_retry_after_is_read_in_seconds_and_as_a_date() -> None:
    assert classify(answered(429, **{"retry-after": "7"}), "q").retry_after == 7
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=40), usegmt=True)
    assert 35 < classify(answered(503, **{"retry-after": at}), "q").retry_after <= 40
    assert classify(answered(429, **{"retry-after": "soon"}), "q").retry_after == 0
    assert classify(answered(429), "q").retry_after == 0


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("token=sk-abc at 10.0.0.7"),
        TransientError("10.0.0.7 sk-abc"),
        TimeoutError("10.0.0.7 sk-abc"),
        answered(503),
        psycopg.OperationalError("password sk-abc for 10.0.0.7"),
    ],
)
def test_no_internal_message_is_told(error: BaseException) -> None:
    text = classify(error, "order_query").description
    assert "sk-" not in text
    assert "10.0" not in text


def test_an_internal_error_names_the_id_under_which_it_is_logged() -> None:
    failure = classify(RuntimeError("x"), "order_query")
    assert failure.error_id in failure.description
