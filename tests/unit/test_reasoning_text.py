"""Reasoning inside content is taken out, however the text is cut into pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.reasoning_text import ThinkFilter, split_blocks, without_reasoning

PLAIN = st.text("ab <>你/", max_size=12).filter(lambda text: "think" not in text)


def in_pieces(text: str, cuts: list[int], *, unopened: bool = False) -> tuple[str, ThinkFilter]:
    """What a watcher sees at the end, and the filter."""
    parts, shown, at = ThinkFilter(unopened=unopened), "", 0
    for cut in [*sorted(cuts), len(text)]:
        piece = parts.feed(text[at:cut])
        at = max(at, cut)
        shown = piece if parts.late else shown + piece
        parts.late = False
    return shown + parts.flush(), parts


@given(
    st.lists(st.tuples(PLAIN, PLAIN), max_size=4),
    PLAIN,
    st.lists(st.integers(0, 120), max_size=8),
    st.booleans(),
)
def test_any_cutting_shows_the_same(
    rounds: list[tuple[str, str]], end: str, cuts: list[int], unopened: bool
) -> None:
    text = "".join(f"{said}<think>{thought}</think>" for said, thought in rounds) + end
    shown, parts = in_pieces(text, [min(cut, len(text)) for cut in cuts], unopened=unopened)
    assert shown == parts.visible == without_reasoning(text, unopened=unopened)[0]
    assert "<think>" not in shown


@given(PLAIN, PLAIN, PLAIN)
def test_only_what_stands_between_the_tags_goes(before: str, thought: str, after: str) -> None:
    answer, reasoning = without_reasoning(f"{before}<think>{thought}</think>{after}")
    assert reasoning == thought
    assert answer == before.lstrip() + (after if before.strip() else after.lstrip())


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("您好 < 5 元", "您好 < 5 元"),
        ("a <thin", "a <thin"),
        ("<think>never closed", ""),
        ("no tag at the start</think>Hello", "Hello"),
        ("<THINKING>x</THINKING>\nHello", "Hello"),
        ("\n\nHello\n", "Hello\n"),
    ],
)
def test_edges(text: str, answer: str) -> None:
    assert without_reasoning(text)[0] == answer


def test_a_model_that_is_known_to_reason_unasked_may_also_just_answer() -> None:
    assert without_reasoning("Hello there", unopened=True) == ("Hello there", "")


def test_blocks_are_read_by_their_kind() -> None:
    content = [
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "text", "text": "Hello "},
        "you",
        {"type": "refusal", "refusal": "no"},
        {"type": "image_url", "image_url": {"url": "x"}},
    ]
    assert split_blocks(content) == ("Hello you", "hm", "no")
