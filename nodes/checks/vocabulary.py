"""The business's words for states, ready to be found in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

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
_GAP_ZH = r"[^,。;!?]{0,12}?"
_GAP_EN = r"(?:[^,.;!?]|(?<=\d)[.,](?=\d)){0,40}?"


@dataclass(frozen=True)
class StateClaim:
    """The states that the words can mean, and whether they are denied."""

    states: frozenset[str]
    denied: bool = False


@dataclass(frozen=True)
class _Word:
    """One word or phrase: what a text must hold for it to be looked for, and how it is asserted and denied."""

    landmark: str
    asserted: re.Pattern[str]
    denied: re.Pattern[str] | None
    states: frozenset[str]


class StateVocabulary:
    """Made once for a business's states. A word with 已 stands for its other forms, `…` for a few words between."""

    def __init__(self, states: Mapping[str, StateWords]) -> None:
        self._states = states
        meanings: dict[str, set[str]] = {}
        for state, entry in states.items():
            for word in entry.words:
                meanings.setdefault(word, set()).add(state)
        self._words = [_compiled(word, frozenset(meant)) for word, meant in meanings.items()]

    def mentions(self, text: str) -> Iterator[Mention[StateClaim]]:
        """All places where a word is asserted or denied; they may overlap."""
        lowered = text.casefold()
        for word in self._words:
            if word.landmark not in lowered:
                continue
            for match in word.asserted.finditer(text):
                yield Mention(match.group(), match.start(), StateClaim(word.states))
            for match in word.denied.finditer(text) if word.denied else ():
                yield Mention(match.group(), match.start(), StateClaim(word.states, denied=True))

    def named(self, text: str) -> set[str]:
        """The state whose code a short value of a result is: `in_transit`, "In transit"."""
        code = re.sub(r"[\s\-]+", "_", text.strip().casefold())
        return {code} if code in self._states else set()

    def closure(self, states: Iterable[str]) -> set[str]:
        """The states and all that they imply: what was delivered has been shipped."""
        known: set[str] = set()
        waiting = list(states)
        while waiting:
            state = waiting.pop()
            if state not in known:
                known.add(state)
                waiting.extend(self._states[state].implies if state in self._states else ())
        return known


def _compiled(word: str, states: frozenset[str]) -> _Word:
    landmark = word.removeprefix("已").partition("…")[0].strip().casefold()
    if re.search(r"[a-z]", word):
        body = rf"\b{_with_gaps(word, _GAP_EN)}\b"
        if re.fullmatch(r"[a-z]+", word):  # a participle: "shipped" alone says nothing
            asserted, denied = _PARTICIPLE_AFTER + body, re.compile(_NOT_EN + body, re.IGNORECASE)
        else:
            asserted, denied = body, None
        return _Word(landmark, re.compile(asserted, re.IGNORECASE), denied, states)
    if not word.startswith("已"):
        return _Word(landmark, re.compile(_with_gaps(word, _GAP_ZH)), None, states)
    stem = _with_gaps(word.removeprefix("已"), _GAP_ZH)
    asserted = rf"已{_ADVERBS}{{0,3}}{stem}{_NO_NOUN}|{stem}(?:成功|完成|完毕|了)"
    return _Word(landmark, re.compile(asserted), re.compile(f"{_NOT_ZH}{stem}(?!的)"), states)


def _with_gaps(word: str, gap: str) -> str:
    return gap.join(re.escape(part.strip()) for part in word.split("…"))
