"""How the customer's answer to "which of these do you mean?" is understood (R3)."""

from __future__ import annotations

import re

from nodes.business import Business
from nodes.state import Clarification

_LONGEST = 36
"""Characters: a longer answer is a message of its own, a restatement or a change of subject."""
_NUMBERS = {"一": 1, "二": 2, "三": 3, "1": 1, "2": 2, "3": 3, "first": 1, "second": 2, "third": 3}
_DIGIT = r"[1-9]|[一二三]|first|second|third"
_NUMBER = rf"(?:第|选择?|选项|option|no\.?|number|the)?\s*[（(]?(?:{_DIGIT})[)）.、]?\s*(?:个|项|号|种|one)?"
_BY_NUMBER = re.compile(
    rf"(?:我?是|就)?{_NUMBER}(?:\s*(?:和|跟|与|及|and|&|,|，|、|\+|\s)\s*{_NUMBER})*\s*(?:吧|的|please)?"
)
_ALL = re.compile(
    r"都要|都有|都是|全部|两个都|三个都|\bboth\b|\ball of (?:them|these)\b|\ball (?:two|three)\b"
)
_NONE = re.compile(r"都不是|都不对|都不要|没有一个|\bneither\b|\bnone\b|\bnot (?:any|one) of\b")
_LATTER = re.compile(r"后者|后面那?个|最后一?个|\b(?:the )?(?:latter|last)(?: one)?\b")
_FORMER = re.compile(r"前者|前面那?个|\b(?:the )?former\b")
_DENIED = re.compile(r"不是|不要|\bnot\b|\bdon't\b|n't\b")
_PARTS = re.compile(r"[、，,/;；()（）]|或|和|及|\bor\b|\band\b")
_WORDS = re.compile(r"[a-z]{4,}")
_EMPTY_WORDS = frozenset(
    {"your", "about", "something", "else", "looking", "with", "that", "this", "what", "want", "have"}
)


def chosen_intents(answer: str, asked: Clarification, business: Business) -> list[str]:
    """The intents that an answer picks among those offered: by number, by name, several of them, or none of them.

    An empty list where it picks none: then it is a message of its own, a restatement or a change of subject.
    """
    text = answer.strip().strip("。.!！~").lower()
    if len(text) > _LONGEST:
        return []
    if _BY_NUMBER.fullmatch(text):
        numbers = [int(digit) if digit in "456789" else _NUMBERS[digit] for digit in re.findall(_DIGIT, text)]
        valid = all(0 < number <= len(asked["intents"]) for number in numbers)
        return [asked["intents"][number - 1] for number in dict.fromkeys(numbers)] if valid else []
    if _NONE.search(text):
        return [business.fallback]
    if _ALL.search(text):
        return list(asked["intents"])
    if _LATTER.fullmatch(text):
        return asked["intents"][-1:]
    if _FORMER.fullmatch(text):
        return asked["intents"][:1]
    if _DENIED.search(text):
        return []
    named = [name for name in asked["intents"] if _names(text, name, business)]
    return named if len(named) == 1 else []


def _names(text: str, name: str, business: Business) -> bool:
    return any(_says(text, label.lower()) for label in (name, *business.intent(name).label.values()))


def _says(text: str, label: str) -> bool:
    """Whether the answer says the label, or one of the things that the label lists."""
    if len(text) >= 2 and text in label:
        return True
    parts = [part.strip() for part in _PARTS.split(label)]
    if any(len(part) >= 2 and part in text for part in parts if not part.isascii()):
        return True
    return bool(_meaningful(text) & _meaningful(label))


def _meaningful(text: str) -> set[str]:
    return set(_WORDS.findall(text)) - _EMPTY_WORDS
