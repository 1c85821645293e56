"""Reasoning that a model writes into its content (`<think>…</think>`) is taken out, whole or while it streams."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_OPEN = re.compile(r"<(?:think|thinking)>", re.IGNORECASE)
_CLOSE = re.compile(r"</(?:think|thinking)>", re.IGNORECASE)
_EITHER = re.compile(rf"{_OPEN.pattern}|{_CLOSE.pattern}", re.IGNORECASE)
_TAGS = ("<think>", "<thinking>", "</think>", "</thinking>")


class ThinkFilter:
    """Takes text in pieces and gives back what is no reasoning; the tags may be cut anywhere.

    `unopened` is for models that begin to reason without a tag: nothing is given back before the closing tag,
    or the end. Where such a tag comes by surprise, `late` turns true: what was given back was reasoning.
    """

    def __init__(self, *, unopened: bool = False) -> None:
        self.visible = ""
        """What has been given back and still counts."""
        self.reasoning = ""
        self.late = False
        self._inside = self._presumed = unopened
        self._held = ""

    def feed(self, text: str) -> str:
        """What can be shown now that `text` has arrived."""
        self._held += text
        shown = ""
        while found := (_CLOSE if self._inside else _EITHER).search(self._held):
            before, self._held = self._held[: found.start()], self._held[found.end() :]
            if self._inside:
                self.reasoning += before
                self._inside = self._presumed = False
            elif _OPEN.fullmatch(found[0]):
                shown += self._show(before)
                self._inside = True
            else:
                self.reasoning += self.visible + before
                self.visible, shown, self.late = "", "", True
        ready = len(self._held) - _possible_tag(self._held)
        before, self._held = self._held[:ready], self._held[ready:]
        if self._inside:
            self.reasoning += before
            return shown
        return shown + self._show(before)

    def flush(self) -> str:
        """The rest, when the text has ended. Reasoning that was only presumed, and never closed, is the answer."""
        rest, self._held = self._held, ""
        if self._presumed:
            rest, self.reasoning = self.reasoning + rest, ""
        elif self._inside:
            self.reasoning += rest
            return ""
        return self._show(rest)

    def _show(self, text: str) -> str:
        if not self.visible:
            text = text.lstrip()  # the blank lines around reasoning
        self.visible += text
        return text


def _possible_tag(text: str) -> int:
    """Length of the end of `text` that may be the beginning of a tag."""
    start = text.rfind("<")
    end = text[start:].lower()
    return len(end) if start >= 0 and any(tag.startswith(end) for tag in _TAGS) else 0


def without_reasoning(text: str, *, unopened: bool = False) -> tuple[str, str]:
    """A whole text as (answer, reasoning)."""
    parts = ThinkFilter(unopened=unopened)
    parts.feed(text)
    parts.flush()
    return parts.visible, parts.reasoning


def split_blocks(content: str | Sequence[Any]) -> tuple[str, str, str]:
    """Message content, a text or a list of blocks, as (text, reasoning, refusal)."""
    if isinstance(content, str):
        return content, "", ""
    text, reasoning, refusal = "", "", ""
    for block in content:
        if isinstance(block, str):
            text += block
            continue
        kind = block.get("type") if isinstance(block, dict) else None
        if kind in ("text", "output_text"):
            text += block.get("text") or ""
        elif kind in ("thinking", "reasoning", "reasoning_content"):
            reasoning += str(block.get("thinking") or block.get("reasoning") or block.get("text") or "")
        elif kind == "refusal":
            refusal += block.get("refusal") or ""
    return text, reasoning, refusal
