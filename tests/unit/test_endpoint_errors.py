"""How long an endpoint asks to wait, and how large it says its window is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import openai
import pytest
from langchain_openai._compat import httpx

from nodes.endpoint_errors import CallFailed, classify, context_limit


def failed(status: int, headers: dict[str, str] | None = None) -> CallFailed:
    request = httpx.Request("POST", "http://localhost/v1/chat/completions")
    response = httpx.Response(status, headers=headers or {}, request=request)
    return classify(openai.APIStatusError("said", response=response, body=None))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_the_wait_that_is_asked_for(headers: dict[str, str], seconds: float | None) -> None:
    assert failed(429, headers).retry_after == seconds


def test_the_wait_may_be_a_date() -> None:
    moment = datetime.now(UTC) + timedelta(seconds=30)
    wait = failed(503, {"retry-after": format_datetime(moment, usegmt=True)}).retry_after
    assert wait is not None
    assert 27 < wait <= 30


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_what_may_pass(status: int) -> None:
    assert failed(status).transient


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 413, 422])
def test_what_stays(status: int) -> None:
    assert not failed(status).transient


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        ("This model's maximum context length is 8192 tokens.", 8192),
        ("exceeds the available context size (4096 tokens)", 4096),
        ("too long", None),
    ],
)
def test_the_window_is_read_from_the_words(said: str, limit: int | None) -> None:
    assert context_limit(said) == limit
