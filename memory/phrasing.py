"""How a statement is put, in both languages: negated, for now only, on top of what is known, or changing it."""

from __future__ import annotations

import re

from memory.lexicon import lowered

_NEGATED = re.compile(
    r"不(?!耐|错|仅|但|管|过|好意思|同|久|止|断|用客气|锈)|别(?!人|的|墅|致|名)|没|勿|无需|无法|取消|停止|拒绝|戒|禁|避免|忌|退订|关闭"
    r"|\b(?:no|not|never|none|without|stop|stops|stopped|cancel|cancels|cancelled|canceled|avoid|avoids|refuse|refuses"
    r"|quit|nor|unsubscribed?|opt(?:ed|s)? out|dislikes?|hates?|declines?|cannot"
    r"|(?:do|does|did|is|are|was|were|wo|ca|could|would|should|must|has|have|had)n['’]?t)\b(?!\s+only)",
    re.IGNORECASE,
)
_TWICE_NEGATED = re.compile(
    r"(?:no longer|not|n['’]t|never|stopped)\s+(?:\w+\s+){0,2}?"
    r"(?:avoid|refus|declin|dislik|hat|cancel|unsubscrib|quit)\w*"
    r"|(?:不再?|别|没有?|不要|不想|不用)(?:忌|戒|拒绝|避免|反对|取消|停止|退订|关闭)",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"临时|暂时|暂且|这次|本次|这一次|这单|本单|这个订单|这周|本周|这星期|这个月|本月|这[两二三四五六七几]天|这[两二三几]周|今天|今晚|今日|明天|明晚|后天|下周|下个月"
    r"|目前先|先送|先寄|出差期间|在出差|旅游期间|度假期间|期间"
    r"|\b(?:temp|temporar(?:y|ily)|this (?:time|once|week|weekend|month|order|delivery|parcel|trip|visit|stay|flight)"
    r"|just once|one[- ]off|today|tonight|tomorrow|for now|for the moment|this (?:morning|afternoon|evening|\w+day)"
    r"|next (?:week|month|\w+day|time|appointment|visit|order|delivery|lesson|class)"
    r"|for (?:the next )?(?:\d+|two|three|four|a few|some) (?:days|weeks)"
    r"|while (?:i|they|he|she|we|the customer|on|away)\b"
    r"|until (?:next|the end|further|\w+day)|on vacation|on holiday|travell?ing)\b",
    re.IGNORECASE,
)
_SAID_TO_PASS = re.compile(
    r"(?:这|本)(?:一)?(?:次|单|回)(?!以后|起)|临时|暂时|就这|仅此一次"
    r"|\b(?:just|only) (?:the once|(?:for |this |for this )(?:once|time|week|month|order|\w+day))|this (?:one )?time\b"
    r"|this (?:week|month|\w+day) only|one[- ]off|skip (?:the |this |my )?next\b",
    re.IGNORECASE,
)
_RESTORED = re.compile(
    r"恢复|照旧|照常|还是按原来|回来了|结束了"
    r"|\b(?:back to|as usual|as before|again as|no longer away|is back|resume[sd]?)\b",
    re.IGNORECASE,
)
_NOT = re.compile(r"不(?:需要|愿意|可以|用|要|想|再|能|会|必|得)")
_SWITCHES = re.compile(
    r"改(?![善进良革造天日正装])|换(?![货新购季句洗乘言热位算])|变(?:成|为)|调整(?:为|成|到)|更新为|升级|降级|搬(?:到|家|去|了)"
    r"|推迟|延期|改期|提前到|提高到|降到|还是(?!喜欢|要|一样|老)|而不是|不再|算了|不对"
    r"|\b(?:instead|rather than|switch(?:ed|es|ing)?|chang(?:ed|es|ing)|(?:has |have )?moved|no longer"
    r"|any ?more|any longer|replac(?:ed|es|ing)|upgraded|downgraded|after all|turned out|make (?:that|it)|no,? wait"
    r"|postponed|delayed|rescheduled|correction|actually|no more)\b",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"现在|以后|今后|从今|如今|目前|往后|接下来|最近|已经|变|重新|恢复|可以.*了$|了$|以前.*现在"
    r"|\b(?:now|these days|nowadays|from (?:now|today|here) on|going forward|in future|lately|again|recently|new)\b",
    re.IGNORECASE,
)


def is_negated(text: str) -> bool:
    """Whether a statement says that something is not, or no longer, so."""
    return _NEGATED.search(_TWICE_NEGATED.sub(" ", text)) is not None


def is_passing(text: str) -> bool:
    """Whether a statement holds for this time only."""
    return _PASSING.search(text) is not None


def is_said_to_pass(evidence: str) -> bool:
    """Whether the customer's own words say that this once is meant."""
    return _SAID_TO_PASS.search(evidence) is not None


def is_restored(text: str) -> bool:
    """Whether a statement says that what was for a time is over."""
    return _RESTORED.search(text) is not None and not is_passing(text)


def pronouns(text: str) -> frozenset[str]:
    """Small words that carry no topic and yet can be all that differs."""
    return frozenset(_SMALL.findall(lowered(text)))


def changes(text: str) -> bool:
    """Whether a statement says of itself that something is otherwise than before."""
    return switches(text) or _CHANGES.search(text) is not None


def switches(text: str) -> bool:
    """Whether a statement puts one thing in the place of another: "instead", "changed to"."""
    return _SWITCHES.search(text) is not None


def without_negation(text: str) -> str:
    """A text in lower case without the words that negate it."""
    return _NEGATED.sub(" ", _NOT.sub(" ", text))


def adds(text: str) -> bool:
    """Whether a statement says of itself that it comes on top of what is known."""
    return _ADDS.search(text) is not None


def is_said_to_add(evidence: str) -> bool:
    """Whether the customer's own words go on from what was said before."""
    return _GOES_ON.search(evidence) is not None


_SMALL = re.compile(
    r"\b(?:he|him|she|her|they|them|up|down|in|out|on|off|over|under)\b|上|下|前|后|内|外|大|小|多|少"
)
_ADDS = re.compile(
    r"还(?=对|有|喜欢|养|用)|另外|此外|除此之外|\b(?:also|in addition|as well|additionally|besides)\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"^\W*(?:and|also|plus)\b|^\W*(?:另外|还有|此外)|\b(?:as well|also)\b|还(?=有|对|养)", re.IGNORECASE
)
