"""The compactor role: a small model's digest of a tool result that is too large for the context (T10)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from langchain_core.messages import HumanMessage, SystemMessage

from memory.errors import StewardError
from nodes.answers import CompactorAnswer
from nodes.booking import Booking
from nodes.models import Models
from nodes.prompting import load_prompt
from nodes.structured import ask_structured
from tools.reduce import Compactor

MOST_CHARACTERS = 60_000
"""Of a result that a digest is asked for; beyond, the deterministic reduction is taken at once."""


_calls: ContextVar[list[Booking] | None] = ContextVar("compactor_calls", default=None)


@contextmanager
def booked_digests() -> Iterator[list[Booking]]:
    """Gathers what the digests made inside cost; the engine that asks for them knows of no ledger."""
    calls: list[Booking] = []
    token = _calls.set(calls)
    try:
        yield calls
    finally:
        _calls.reset(token)


def make_compactor(models: Models, timeout: float) -> Compactor:
    """A compactor for the tool engine; None where the model fails, and the engine reduces by itself."""

    async def compact(tool: str, request: str, data: Any, budget: int) -> dict[str, Any] | None:
        text = json.dumps(data, ensure_ascii=False)
        if len(text) > MOST_CHARACTERS:
            return None
        system = load_prompt("compactor").format(tool=tool, budget=budget)
        body = f"<request>\n{request}\n</request>\n<result>\n{text}\n</result>"
        prompt = [SystemMessage(system), HumanMessage(body)]
        try:
            answer, reply = await ask_structured(
                models, "compactor", CompactorAnswer, prompt, deadline=time.time() + timeout
            )
        except StewardError:
            return None
        if (calls := _calls.get()) is not None:
            calls.append(Booking("execute_tools", "compactor", reply, {"instructions": 1, "tools": 9}))
        return answer.digest

    return compact
