"""What stands in a conversation and is nobody's word in it: free text of results, documents, unproven memories (O4).

Such text is data for the answer. It must not come back as something that the customer has said. Recalled memories and
summaries stand in the blocks that are kept with the customer's messages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from langchain_core.messages import AnyMessage, ToolMessage

from memory.keywords import terms
from nodes.background import foreign_lines
from nodes.context_groups import block_of

MOST_CHARACTERS = 12_000
"""Of all foreign text together, the newest first."""
LONGEST_TEXT = 3_000
FEWEST_TERMS = 2
"""Fewer are a name or a state, not a statement."""


def foreign_text(messages: Sequence[AnyMessage]) -> tuple[str, ...]:
    """Of a conversation, the newest first; bounded."""
    blocks = (line for message in reversed(messages) for line in foreign_lines(block_of(message)))
    return _bounded(chain(blocks, _results(messages)))


def _results(messages: Sequence[AnyMessage]) -> Iterator[str]:
    texts = (str(message.text) for message in reversed(messages) if isinstance(message, ToolMessage))
    for text in dict.fromkeys(texts):  # a result that has come before says nothing new
        try:
            yield from _leaves(json.loads(text))
        except ValueError:
            yield text


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(each)


def _bounded(texts: Iterable[str]) -> tuple[str, ...]:
    kept: list[str] = []
    seen: set[str] = set()
    room = MOST_CHARACTERS
    for text in texts:
        if text in seen:
            continue
        seen.add(text)
        cut = text[: min(LONGEST_TEXT, room)]
        if len(terms(cut)) >= FEWEST_TERMS:
            kept.append(cut)
            room -= len(cut)
        if room <= 0:
            break
    return tuple(kept)
