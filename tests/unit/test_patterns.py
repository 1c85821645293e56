"""Patterns mean what JSON Schema says, on any input, in bounded time."""

from __future__ import annotations

import time

import pytest

from tools.patterns import SECONDS, matches


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"^\d+$", "12", True),
        (r"^\d+$", "１２", False),
        (r"^\w+$", "é", False),
        (r"^\p{L}+$", "é", True),
        (r"^a$", "a\n", False),
        (r"^[\w-\.]+@[\w.-]+$", "a.b-c@example.com", True),
        (r"^[$]\$$", "$$", True),
        (r"^[[a]$", "[", True),
        (r"^[^\d]$", "1", False),
        (r"b", "abc", True),
    ],
)
def test_a_pattern_means_what_ecma_262_says(pattern: str, text: str, found: bool) -> None:
    assert matches(pattern, text) is found


def test_a_pattern_that_would_never_end_counts_as_no_match_soon() -> None:
    started = time.monotonic()
    assert not matches(r"^(\w+\s?)*$", "a" * 60 + "!")
    assert time.monotonic() - started < 4 * SECONDS
