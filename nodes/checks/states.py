"""States that a text asserts, in the business's own words: 已发货, is out for delivery, 尚未签收.

Only what is stated as a fact counts. Conditions (once it is delivered), plans (will be refunded), possibilities
(cannot be cancelled), questions and the customer's own words told back are left out.
"""

from __future__ import annotations

import re

from nodes.checks.text import Mention
from nodes.checks.vocabulary import StateClaim, StateVocabulary

_OPEN_ZH = re.compile(
    r"等|待|直到|是否|能否|可以|可|将|会(?!员)|预计|即将|需|要|(?<!申)请|无法|不能|不会|并非|不是|除非|只有|凡|当(?!前)|才|未|没有|不"
)
_OPEN_EN = re.compile(
    r"\b(?:not|nothing|none|neither|never|no longer|until|till|before|will|would|can|could|may|might|should|shall|"
    r"must|cannot|to be|whether|than|nor|hardly)\b|n't\b|'ll\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"如果|若|一旦|假如|倘若|(?:^|[,\s])如(?![下上此何意同图])|\b(?:if|once|when|after|unless|as soon as|in case)\b",
    re.IGNORECASE,
)
_TOLD_BACK = re.compile(
    r"您说|您提到|您反馈|您反映|您描述|您看到|你说"
    r"|\byou (?:say|said|mention|mentioned|wrote|write|report|reported|told|see|saw)\b",
    re.IGNORECASE,
)
_CONTRAST = re.compile(r"但|不过|然而|可是|\b(?:but|however|though|yet)\b", re.IGNORECASE)
_STILL_OPEN = re.compile(
    r"(?:之?后|以后|时(?!间)|的话|之?前|吗|么|与否|的(?=[^\s,。;!?])"
    r"|\s+(?:within|in \d|after|once|when|as soon as|automatically)\b)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,:;!?()\n]|\b(?:but|because|so|and|or|however|though|although|while)\b|但|因为|所以")


def find_states(text: str, vocabulary: StateVocabulary) -> list[Mention[StateClaim]]:
    """States that one folded sentence asserts or denies."""
    found: list[Mention[StateClaim]] = []
    if text.rstrip().endswith("?"):
        return found
    for mention in sorted(vocabulary.mentions(text), key=lambda m: (-len(m.quote), m.start)):
        if not any(mention.start < other.end and other.start < mention.end for other in found):
            found.append(mention)
    return sorted((m for m in found if _is_fact(text, m)), key=lambda mention: mention.start)


def _is_fact(text: str, mention: Mention[StateClaim]) -> bool:
    before = text[: mention.start]
    if _CONDITION.search(before) or _TOLD_BACK.search(_CONTRAST.split(before)[-1]):
        return False
    clause = _CLAUSE.split(before)[-1]
    if not mention.value.denied and (_OPEN_ZH.search(clause) or _OPEN_EN.search(clause)):
        return False
    return not _STILL_OPEN.match(text[mention.end :])
