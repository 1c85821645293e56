"""The model of the soak: as in the kill test, but for a share of requests, which it fails in the customary ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from bench.kill.script import script
from tests.support.model_replies import Reply, Request, dropped, empty, failure, rate_limited, server_error
from tests.support.model_server import role_of

Failing = Callable[[], Reply]
WAYS: tuple[Failing, ...] = (
    server_error,
    lambda: server_error(503),
    lambda: rate_limited(0.2),
    lambda: dropped("this will not be heard to its end", after=2),
    empty,
    lambda: failure(400, "Bad gateway upstream"),
    lambda: Reply(body=b"<html>502</html>"),
)
CUT_OFF = Reply(text="{", finish_reason="length")
"""For roles that answer in a form."""


@dataclass
class FailingScript:
    """Answers like the kill test's script, except for a share of requests."""

    seed: int
    share: float

    def __post_init__(self) -> None:
        self._chance = Random(self.seed)

    def __call__(self, request: Request) -> Reply:
        if self._chance.random() < self.share:
            reply = self._chance.choice(WAYS)()
            return CUT_OFF if role_of(request) != "chat" and self._chance.random() < 0.2 else reply
        return script(request)
