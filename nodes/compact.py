"""The compactor role: a small model's digest of a tool result that is too large for the context (T10)."""

from __future__ import annotations

import json
import time
from typing import Any

from langchain_core.messages import HumanMessage, SystemMessage

from memory.errors import StewardError
from nodes.answers import CompactorAnswer
from nodes.models import Models
from nodes.prompting import load_prompt
from nodes.structured import ask_structured
from tools.reduce import Compactor

MOST_CHARACTERS = 60_000
"""Of a result that a digest is asked for; beyond, the deterministic reduction is taken at once."""


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
            answer, _ = await ask_structured(
                models, "compactor", CompactorAnswer, prompt, deadline=time.time() + timeout
            )
        except StewardError:
            return None
        return answer.digest

    return compact
