"""States that a text asserts, in the business's own words: 已发货, is out for delivery, 尚未签收.

Only what is stated as a fact counts. Conditions (once it is delivered), plans (will be refunded), possibilities
(cannot be cancelled), questions and the customer's own words told back are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from nodes.business import StateWords
from nodes.checks.text import Mention

_ADVERBS = (
    r"(?:经|成功|顺利|正式|全部|全额|完成|正常|确认|被|为您|帮您|给您|替您|办理"
    r"|(?:于|在|由|从|按)[^,。;!?\s]{1,14}?)"
)
_NO_NOUN = r"(?!申请|流程|手续|请求|中|工单|政策|单|金额|进度|的[^\s,。;!?])"
_PARTICIPLE_AFTER = (
    r"(?:\b(?:is|are|was|were|been|being|got|has|have|had|we|i)\b|'s\b|'ve\b|'re\b|:)"
    r"(?:\s+(?:now|already|just|since|then|also|successfully|fully|been|finally|safely|both|all))*\s*"
)
_NOT_ZH = r"(?:尚未|还未|仍未|未|没有?)(?:被|能)?(?:成功|完成)?"
_NOT_EN = r"(?:\bnot|n't)(?:\s+(?:yet|been|being|fully))*\s+"
_OPEN_ZH = re.compile(
    r"等|待|直到|是否|能否|可以|可|将|会(?!员)|预计|即将|需|要|(?<!申)请|无法|不能|不会|并非|不是|除非|只有|凡|当(?!前)|才|未|没有|不"
)
_OPEN_EN = re.compile(
    r"\b(?:not|never|no longer|until|till|before|will|would|can|could|may|might|should|shall|must|cannot|to be|"
    r"whether|than|nor|hardly)\b|n't\b|'ll\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"如果|若|一旦|假如|倘若|\b(?:if|once|when|after|unless|as soon as|in case)\b", re.IGNORECASE
)
_TOLD_BACK = re.compile(
    r"您说|您提到|您反馈|您反映|您描述|您看到|你说"
    r"|\byou (?:say|said|mention|mentioned|wrote|write|report|reported|told|see|saw)\b",
    re.IGNORECASE,
)
_CONTRAST = re.compile(r"但|不过|然而|可是|\b(?:but|however|though|yet)\b", re.IGNORECASE)
_STILL_OPEN = re.compile(r"(?:之?后|以后|时(?!间)|的话|之?前|吗|么|与否|的(?=[^\s,。;!?]))")
_CLAUSE = re.compile(r"[,:;!?()\n]|\b(?:but|because|so|and|or|however|though|although|while)\b|但|因为|所以")
_GAP = {"zh": r"[^,。;!?]{0,12}?", "en": r"(?:[^,.;!?]|(?<=\d)[.,](?=\d)){0,40}?"}


@dataclass(frozen=True)
class StateClaim:
    """The states that the words can mean, and whether they are denied."""

    states: frozenset[str]
    denied: bool = False


def find_states(text: str, vocabulary: Mapping[str, StateWords]) -> list[Mention[StateClaim]]:
    """States that one folded sentence asserts or denies."""
    found: list[Mention[StateClaim]] = []
    if text.rstrip().endswith("?"):
        return found
    for mention in sorted(_all(text, vocabulary), key=lambda m: (-len(m.quote), m.start)):
        if not any(mention.start < other.end and other.start < mention.end for other in found):
            found.append(mention)
    return sorted((m for m in found if _is_fact(text, m)), key=lambda mention: mention.start)


def named_states(text: str, vocabulary: Mapping[str, StateWords]) -> set[str]:
    """States that a short value of a result names: a code (`in_transit`) or the words for it."""
    code = re.sub(r"[\s\-]+", "_", text.strip().casefold())
    return {code} if code in vocabulary else set()


def closure(states: Iterable[str], vocabulary: Mapping[str, StateWords]) -> set[str]:
    """The states and all that they imply: what was delivered has been shipped."""
    known: set[str] = set()
    waiting = list(states)
    while waiting:
        state = waiting.pop()
        if state not in known:
            known.add(state)
            waiting.extend(vocabulary[state].implies if state in vocabulary else ())
    return known


def _all(text: str, vocabulary: Mapping[str, StateWords]) -> Iterator[Mention[StateClaim]]:
    meanings: dict[str, set[str]] = {}
    for state, entry in vocabulary.items():
        for word in entry.words:
            meanings.setdefault(word, set()).add(state)
    lowered = text.casefold()
    for word, states in meanings.items():
        if _landmark(word) not in lowered:
            continue
        asserted, denied = _patterns(word)
        for match in asserted.finditer(text):
            yield Mention(match.group(), match.start(), StateClaim(frozenset(states)))
        if denied:
            for match in denied.finditer(text):
                yield Mention(match.group(), match.start(), StateClaim(frozenset(states), denied=True))


@lru_cache(maxsize=1024)
def _landmark(word: str) -> str:
    """What a text has to hold for the word to be found in it."""
    return word.removeprefix("已").partition("…")[0].strip()


@lru_cache(maxsize=1024)
def _patterns(word: str) -> tuple[re.Pattern[str], re.Pattern[str] | None]:
    """How a word of the vocabulary is asserted and denied; `…` in it stands for a few words between."""
    if not word.isascii() and not re.search(r"[a-z]", word):
        return _chinese_patterns(word)
    body = rf"\b{_with_gaps(word, 'en')}\b"
    if re.fullmatch(r"[a-z]+", word):
        denied = re.compile(_NOT_EN + body, re.IGNORECASE)
        return re.compile(_PARTICIPLE_AFTER + body, re.IGNORECASE), denied
    return re.compile(body, re.IGNORECASE), None


def _chinese_patterns(word: str) -> tuple[re.Pattern[str], re.Pattern[str] | None]:
    if not word.startswith("已"):
        return re.compile(_with_gaps(word, "zh")), None
    stem = _with_gaps(word.removeprefix("已"), "zh")
    asserted = rf"已{_ADVERBS}{{0,3}}{stem}{_NO_NOUN}|{stem}(?:成功|完成|完毕|了)"
    return re.compile(asserted), re.compile(f"{_NOT_ZH}{stem}(?!的)")


def _with_gaps(word: str, language: str) -> str:
    return _GAP[language].join(re.escape(part.strip()) for part in word.split("…"))


def _is_fact(text: str, mention: Mention[StateClaim]) -> bool:
    before = text[: mention.start]
    if _CONDITION.search(before) or _TOLD_BACK.search(_CONTRAST.split(before)[-1]):
        return False
    clause = _CLAUSE.split(before)[-1]
    if not mention.value.denied and (_OPEN_ZH.search(clause) or _OPEN_EN.search(clause)):
        return False
    return not _STILL_OPEN.match(text[mention.end :])
