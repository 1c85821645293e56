"""Ids for the messages that the agent writes itself."""

from __future__ import annotations

from uuid import uuid4


def new_id(kind: str) -> str:
    """A unique message id that says what it is: `answer-…`, `result-…`."""
    return f"{kind}-{uuid4().hex}"
