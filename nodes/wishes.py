"""The wishes in one message: where it falls into clauses, and what may be decided of it without a model (R4)."""

from __future__ import annotations

import re
from collections.abc import Sequence

SURE = 0.85
"""Probability from which the classifier decides alone; set on labelled data, see docs/benchmarks/routing.md."""
OTHER = 0.6
"""Probability from which a clause may well carry a wish of its own, so that the whole is not decided alone."""

Ranking = Sequence[tuple[str, float]]
"""Intents with their probabilities, likeliest first."""

_JOINT = re.compile(
    r"(?<=[\s,，。.!！?？;；])还有(?!货)|另外|顺便|順便|同时|以及|再[帮问查看给把]|[;；]"
    r"|\b(?:and (?:also|then)|also|as well as|besides|in addition|by the way)\b"
    r"|\bplus,? (?=(?:i|can|where|how|what)\b)",
    re.IGNORECASE,
)
_QUESTIONS = re.compile(r"[?？].*\w.*[?？]", re.DOTALL)
_BREAK = re.compile(
    r"[,，。!！?？;；\n]+|\.(?=\s|$)|(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff#])"
    r"|\band\b(?= (?:i|can|could|where|what|when|how|please|also|then|cancel|change|send|return)\b)",
    re.IGNORECASE,
)
_SHORTEST = 2
"""Characters of a clause."""


def several_wishes(text: str) -> bool:
    """A message that joins wishes in so many words ("and also", 另外), or asks more than one question."""
    joint = _JOINT.search(text)
    return bool((joint and text[: joint.start()].strip()) or _QUESTIONS.search(text))


def clauses(text: str) -> list[str]:
    """The parts of a message that may each carry a wish; the message itself where there is but one."""
    parts = (part.strip() for span in _JOINT.split(text) for part in _BREAK.split(span))
    return [part for part in parts if len(part) >= _SHORTEST] or [text]


def decide_alone(whole: Ranking, parts: Sequence[Ranking], *, joined: bool, fallback: str) -> Ranking:
    """What a classifier of single wishes may decide by itself; nothing where the router model has to be asked.

    A joined message is decided where each of its clauses is; any other, where the whole is and no clause speaks
    against it. A clause of small talk is no wish beside another one.
    """
    if joined:
        if any(part[0][1] < SURE for part in parts):
            return []
        found = {part[0][0]: part[0][1] for part in reversed(parts) if part[0][0] != fallback}
        return sorted(found.items(), key=lambda item: -item[1]) or parts[0][:1]
    name, probability = whole[0]
    others = (part[0] for part in parts if part[0][0] not in (name, fallback))
    if probability < SURE or any(other >= OTHER for _, other in others):
        return []
    return whole[:1]
