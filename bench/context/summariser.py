"""A scripted summariser: it copies facts from what it is given, as many as a summary has room for."""

from __future__ import annotations

import re

from memory.tokens import cut
from tests.support.model_replies import Request

MOST_TOKENS = 400
_FACT = re.compile(r"#?\w*\d[\w\-./:]*")


def copy_of_facts(request: Request) -> str:
    """The numbers, dates and codes of the earlier summary and of the conversation, without repeats."""
    found = _FACT.findall(request["messages"][-1]["content"])
    return cut("Mentioned: " + ", ".join(dict.fromkeys(found)), MOST_TOKENS)
