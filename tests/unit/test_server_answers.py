"""What is wrong inside is told to staff and the log; a customer hears that something is (O1, M10)."""

from __future__ import annotations

import json

import pytest
from starlette.requests import Request

from graph.server.identity import Identity, Refused
from graph.server.routes import answers
from memory.errors import ConfigurationError, DatabaseUnavailable, InvalidInput, ThreadBusy

INSIDE = (
    "Postgres at 10.0.0.5:5432/shop refuses the password; correct postgresql://bob:s3cret@db in DATABASE_URL."
)


def caller_is(who: Identity | None) -> object:
    def caller(_: Request) -> Identity:
        if who is None:
            raise Refused(401, "Send a token.")
        return who

    return caller


async def told(error: Exception) -> tuple[int, str]:
    answer = await answers.refused(Request({"type": "http", "path": "/costs", "headers": []}), error)
    return answer.status_code, json.loads(bytes(answer.body))["detail"]


@pytest.mark.parametrize("who", [Identity("user_1", "customer"), None])
@pytest.mark.parametrize(
    ("error", "status"), [(DatabaseUnavailable(INSIDE), 503), (ConfigurationError(INSIDE), 500)]
)
async def test_a_customer_learns_nothing_of_the_inside(
    who: Identity | None, error: Exception, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "caller", caller_is(who))
    assert await told(error) == (status, answers.UNAVAILABLE)


async def test_staff_are_told_the_cause_without_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "caller", caller_is(Identity("boss", "staff")))
    status, text = await told(DatabaseUnavailable(INSIDE))
    assert status == 503
    assert "10.0.0.5:5432/shop refuses the password" in text
    assert "s3cret" not in text


@pytest.mark.parametrize(
    ("error", "status"), [(InvalidInput("No."), 422), (ThreadBusy(), 409), (Refused(403, "Not you."), 403)]
)
async def test_what_a_caller_can_mend_is_told_to_everybody(error: Exception, status: int) -> None:
    assert await told(error) == (status, str(error))
