"""The compactor role: a small model's digest of a tool result that is too large for the context (T10)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import HumanMessage, SystemMessage

from memory.errors import StewardError
from nodes.answers import CompactorAnswer
from nodes.booking import Booking
from nodes.models import Models
from nodes.prompting import fill, load_prompt
from nodes.structured import ask_structured
from tools.reduce import Compactor

MOST_CHARACTERS = 60_000
"""Of a result that a digest is asked for; beyond, the deterministic reduction is taken at once."""


@dataclass(frozen=True)
class _Digesting:
    """For whom digests are made: the engine that asks for them knows of no run."""

    models: Models
    prompt: str
    calls: list[Booking] = field(default_factory=list)


_digesting: ContextVar[_Digesting | None] = ContextVar("digesting", default=None)


@contextmanager
def booked_digests(models: Models, prompt: str) -> Iterator[list[Booking]]:
    """Digests made inside are those models', by that prompt; gathers what they cost."""
    digesting = _Digesting(models, prompt)
    token = _digesting.set(digesting)
    try:
        yield digesting.calls
    finally:
        _digesting.reset(token)


def make_compactor(models: Models, timeout: float) -> Compactor:
    """A compactor for the tool engine; None where the model fails, and the engine reduces by itself."""

    async def compact(tool: str, request: str, data: Any, budget: int) -> dict[str, Any] | None:
        text = json.dumps(data, ensure_ascii=False)
        if len(text) > MOST_CHARACTERS:
            return None
        digesting = _digesting.get() or _Digesting(models, load_prompt("compactor"))
        system = fill(digesting.prompt, tool=tool, budget=budget)
        body = f"<request>\n{request}\n</request>\n<result>\n{text}\n</result>"
        prompt = [SystemMessage(system), HumanMessage(body)]
        try:
            answer, reply = await ask_structured(
                digesting.models, "compactor", CompactorAnswer, prompt, deadline=time.time() + timeout
            )
        except StewardError:
            return None
        digesting.calls.append(Booking("execute_tools", "compactor", reply, {"instructions": 1, "tools": 9}))
        return answer.digest

    return compact
