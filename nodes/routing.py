"""How scores become a route: who leads, what is offered, when to ask. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from nodes.business import Business
from nodes.state import Clarification, Route, RoutedIntent

_FOLLOW_UP = re.compile(
    r"^\s*(and|also|what about|how about|the other|another|same|that one|this one|it|why|when|ok|okay|yes|no|sure|"
    r"please do|go ahead|thanks?|那|还有|另外|另一个|这个|那个|它|"
    r"为什么|什么时候|好的?|可以|行|嗯|是的?|不是?|对(?!了)|确认|谢谢|麻烦)",
    re.IGNORECASE,
)
_ASKING = re.compile(r"[?？]|请|麻烦您|\bplease\b|\blet me know\b", re.IGNORECASE)
_ENDING = 80
"""Characters at the end of an answer that are looked at for a question."""
_DETAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?:[A-Za-z]{1,4}[-\s]?)?\+?\d[\d\s-]{3,}\d")
_AROUND_DETAILS = re.compile(
    r"我的?|您?可以|打|联系|电话|手机|号码?|方式|邮箱|订单|单|运单|快递|是|为|[\W_]"
    r"|\b(?:my|the|you|can|call|reach|me|at|on|is|it's|its|phone|mobile|number|e-?mail|address|order|tracking|contact)\b",
    re.IGNORECASE,
)
_SHORT = 40
"""Characters: a longer message stands for itself."""
_CHINESE_NUMBERS = {"一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "第一": 1, "第二": 2, "第三": 3}
_RESTATEMENT = 12
"""Characters from which an answer to a clarification is read as a message of its own."""


def is_follow_up(text: str) -> bool:
    """A message that leans on the one before it: a short one that points back ("and the other one?"), or one that
    only gives the details that were asked for ("my phone number is …")."""
    return only_details(text) or (len(text) <= _SHORT and bool(_FOLLOW_UP.match(text)))


def only_details(text: str) -> bool:
    """Numbers and addresses with nothing said about them."""
    rest, found = _DETAIL.subn(" ", text)
    return found > 0 and not _AROUND_DETAILS.sub("", rest)


def answers_a_question(text: str, last_answer: str) -> bool:
    """A short message after the agent has asked for something: most likely what was asked for."""
    return len(text) <= _SHORT and bool(_ASKING.search(last_answer[-_ENDING:]))


def lead_by_priority(intents: Sequence[RoutedIntent], business: Business) -> list[RoutedIntent]:
    """The business's priority picks the leading intent; the others keep the order of their confidence."""
    ranked = sorted(intents, key=lambda intent: -intent["confidence"])
    if not ranked:
        return []
    leader = max(ranked, key=lambda intent: business.intent(intent["name"]).priority)
    return [leader, *(intent for intent in ranked if intent is not leader)]


def offered_tools(
    intents: Sequence[str],
    business: Business,
    available: Sequence[str],
    limit: int,
    beside: Callable[[str], Sequence[str]] = lambda _: (),
) -> list[str]:
    """Tools of the intents in turn (each intent's first, then each one's second …), `limit` at most.

    `beside` names what an intent offers after the tools that it lists (tools of servers).

    >>> # with order: [order_query, order_update] and logistics: [logistics_query]
    >>> # offered_tools(["order", "logistics"], …) == ["order_query", "logistics_query", "order_update"]
    """
    lists = [[*business.intent(name).tools, *beside(name)] for name in intents]
    offered: list[str] = []
    for rank in range(max((len(tools) for tools in lists), default=0)):
        for tools in lists:
            if rank < len(tools) and tools[rank] in available and tools[rank] not in offered:
                offered.append(tools[rank])
    return offered[:limit]


def make_route(
    intents: Sequence[RoutedIntent],
    business: Business,
    available: Sequence[str],
    limit: int,
    why: str,
    *,
    beside: Callable[[str], Sequence[str]] = lambda _: (),
    likely: Sequence[str] = (),
    ask: bool = False,
    guess: bool = False,
) -> Route:
    """A route of intents that are already in order, leading one first."""
    names = [intent["name"] for intent in intents]
    return {
        "intents": list(intents),
        "tools": offered_tools(names, business, available, limit, beside),
        "review": any(business.intent(name).review for name in names),
        "why": why,
        "likely": list(likely),
        "ask": ask,
        "guess": guess,
    }


def chosen_intent(answer: str, asked: Clarification, business: Business) -> str | None:
    """The intent that an answer to a clarification picks: by number, by label or name; None where it does not.

    A longer answer that names no option is a message of its own: a restatement, or a change of subject.
    """
    text = answer.strip().strip("。.!！").lower()
    digits = re.fullmatch(r"(?:第|选|option|no\.?|number)?\s*(\d|[一二三四五])\s*(?:个|项|号)?", text)
    if digits:
        picked = digits.group(1)
        number = int(picked) if picked.isdigit() else _CHINESE_NUMBERS[picked]
        return asked["intents"][number - 1] if 0 < number <= len(asked["intents"]) else None
    if len(text) > _RESTATEMENT * 3:
        return None
    named = [name for name in asked["intents"] if _names(text, name, business)]
    return named[0] if len(named) == 1 else None


def _names(text: str, name: str, business: Business) -> bool:
    labels = [name, *business.intent(name).label.values()]
    return any(_overlaps(text, label.lower()) for label in labels)


def _overlaps(text: str, label: str) -> bool:
    if len(text) >= 2 and (text in label or label in text):
        return True
    words = set(re.findall(r"[a-z]{4,}", label))
    return bool(words & set(re.findall(r"[a-z]{4,}", text)))


_JOINTS = re.compile(
    r"另外|还有|顺便|同时|以及|再帮我|\band (?:also|then)\b|\balso\b|\bplus\b|\bas well\b|[;；]|[?？].+[?？]",
    re.IGNORECASE | re.DOTALL,
)


def several_wishes(text: str) -> bool:
    """A message that seems to carry more than one wish; a single-label classifier must not decide it alone."""
    return bool(_JOINTS.search(text))
