"""Token sizes of requests as an endpoint received them, and what a prompt cache would have saved."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bpe_openai import get_encoding

Request = dict[str, Any]

CACHE_FROM = 1024
"""Tokens: shorter prefixes are not cached."""
CACHE_STEP = 128
_ENCODING = get_encoding("o200k_base")


@dataclass(frozen=True)
class Sent:
    """One request: its tokens, and those that no cached prefix of the request before covers."""

    tokens: int
    uncached: int


def encode(request: Request) -> list[int]:
    """The prompt as tokens: tools first, then the messages, as providers lay them out."""
    parts = [json.dumps(request.get("tools") or [], ensure_ascii=False)]
    parts += [_as_text(message) for message in request["messages"]]
    return list(_ENCODING.encode_ordinary("\n".join(parts)))


def measure(requests: Sequence[Request]) -> list[Sent]:
    """Each request of one conversation, against the one before it."""
    found: list[Sent] = []
    before: list[int] = []
    for request in requests:
        tokens = encode(request)
        shared = _common(before, tokens)
        cached = shared - shared % CACHE_STEP if shared >= CACHE_FROM else 0
        found.append(Sent(len(tokens), len(tokens) - cached))
        before = tokens
    return found


def _as_text(message: Request) -> str:
    calls = [
        f"{call['function']['name']}{call['function']['arguments']}"
        for call in message.get("tool_calls") or []
    ]
    return f"{message['role']}: {message.get('content') or ''}{''.join(calls)}"


def _common(a: Sequence[int], b: Sequence[int]) -> int:
    length = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        length += 1
    return length
