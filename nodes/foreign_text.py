"""What stands in a conversation and is nobody's word in it: free text of results, documents, unproven memories (O4).

Such text is data for the answer. It must not come back as something that the customer has said. Recalled memories and
summaries stand in the blocks that are kept with the customer's messages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from langchain_core.messages import AnyMessage

from memory.keywords import terms
from nodes.background import foreign_lines
from nodes.context_groups import block_of

MOST_CHARACTERS = 12_000
"""Of all foreign text together, the newest first."""
LONGEST_TEXT = 3_000
FEWEST_TERMS = 2
"""Fewer are a name or a state, not a statement."""
LONGEST_CODE = 40
"""Characters without a blank, of an alphabet that writes blanks: a number, a date, an address of a page."""
RESULTS_KEPT = 500
"""Results whose statements are remembered: a conversation is gone through at the end of each turn."""
LONGEST_KEPT = 4_000


def foreign_text(messages: Sequence[AnyMessage]) -> tuple[str, ...]:
    """Of a conversation, the newest first; bounded."""
    blocks = (
        line
        for message in reversed(messages)
        if (block := block_of(message))
        for line in foreign_lines(block)
        if _is_statement(line)
    )
    return _bounded(chain(blocks, _results(messages)))


def _results(messages: Sequence[AnyMessage]) -> Iterator[str]:
    for message in reversed(messages):
        if message.type == "tool":
            text = message.content if isinstance(message.content, str) else str(message.text)
            yield from _statements(text) if len(text) <= LONGEST_KEPT else _read(text)


def _read(text: str) -> Iterator[str]:
    """What a result says; of one that is not JSON, all of it."""
    try:
        leaves: Iterable[str] = _leaves(json.loads(text))
    except ValueError:
        leaves = (text,)
    return filter(_is_statement, leaves)


@lru_cache(maxsize=RESULTS_KEPT)
def _statements(text: str) -> tuple[str, ...]:
    return tuple(_read(text))


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(each)


def _is_statement(text: str) -> bool:
    """Whether a text says something, rather than name or number it."""
    is_code = len(text) <= LONGEST_CODE and text.isascii() and not any(map(str.isspace, text.strip()))
    return not is_code and len(terms(text[:LONGEST_TEXT])) >= FEWEST_TERMS


def _bounded(texts: Iterable[str]) -> tuple[str, ...]:
    kept: list[str] = []
    seen: set[str] = set()
    room = MOST_CHARACTERS
    for text in texts:
        if text in seen:
            continue
        seen.add(text)
        kept.append(text[: min(LONGEST_TEXT, room)])
        room -= len(kept[-1])
        if room <= 0:
            break
    return tuple(kept)
