"""What the demo model finds worth remembering: lasting facts, preferences and decisions said outright."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from graph.shop.texts import text

_SENTENCE = re.compile(r"[^。！!\n；;]+")
_QUESTION = re.compile(r"[吗呢？?]\s*$")
_RULES = tomllib.loads(text("offline/memories.toml"))["rule"]


def memories(words: str) -> list[dict[str, Any]]:
    """Items of a message in the extractor's form; none where nothing lasting was said.

    >>> [item["key"] for item in memories("我对花生过敏")]
    ['allergy_花生']
    """
    found: dict[str, dict[str, Any]] = {}
    for sentence in _SENTENCE.findall(words):
        sentence = sentence.strip(" ,，.。")
        if sentence and not _QUESTION.search(sentence):
            item = _item(sentence)
            if item:
                found.setdefault(item["key"], item)
    return list(found.values())


def _item(sentence: str) -> dict[str, Any] | None:
    for rule in _RULES:
        match = re.search(rule["pattern"], sentence, re.IGNORECASE)
        if match:
            thing = next((group for group in match.groups() if group), "").strip().lower()
            return {
                "key": rule["key"].format(thing=thing),
                "content": sentence,
                "type": rule["type"],
                "confidence": 0.9,
                "importance": rule["importance"],
                "domains": rule["domains"],
                "evidence": sentence,
            }
    return None
