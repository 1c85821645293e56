"""A wish in its setting: the numbers, contact and description that belong to it, wherever they were said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from graph.offline.view import ChatView
from graph.shop.intents import INTENTS
from graph.shop.offline import lexicon
from graph.shop.offline.wishes import Wish, only_details, wishes

_POINTING = re.compile(
    r"它|这个|那个|这单|那单|该订单|\b(it|this|that|the order|the parcel)\b", re.IGNORECASE
)
_OTHER_ONE = re.compile(r"另一?(个|单)|另外一(个|单)|\bthe other one\b", re.IGNORECASE)
_LATEST = re.compile(r"最新|最近|刚才|刚刚|上一单|\b(latest|last|most recent|just)\b", re.IGNORECASE)
_VAGUE = frozenset({"other", "unclear", "greeting", "thanks", "order"})
"""Kinds that may as well be the answer to a question of the agent."""
_QUESTION = re.compile(r"[?？]|请(留|告诉|说一下|简单说明)")
_CONTACT_WORDS = re.compile(
    r"[\s,，;；]*(我的|my )?(电话|手机号?|邮箱|联系方式|phone|number|e-?mail|contact)( number| address)?"
    r"\s*(是|为| is)?[:：]?\s*$",
    re.IGNORECASE,
)
_FIRST_STEP = {"order": "orders", "logistics": "parcel", "aftersale": "aftersale"}
"""Where to begin with an intent that the customer has named without saying more."""
_SHORT = 30
"""Characters: a longer message stands for itself."""


@dataclass(frozen=True)
class Case:
    """One wish, ready to be worked on."""

    kind: str
    text: str
    order_ids: tuple[str, ...] = ()
    tracking_nos: tuple[str, ...] = ()
    ticket_nos: tuple[str, ...] = ()
    contact: str | None = None
    issue: str = ""
    """The words of the wish, across the turns it took, without the contact."""
    latest: bool = False
    """The customer means their newest order."""


def cases(view: ChatView) -> list[Case]:
    """The customer's wishes, completed from an earlier request that was waiting for this message."""
    earlier = _request_in_progress(view)
    said = "\n".join([*earlier, view.words])
    asked_about = lexicon.orders(view.last_answer()) if earlier else []
    wanted = _wanted(earlier, said)
    if earlier and [wish.kind for wish in wanted] == ["unclear"]:
        wanted = [Wish(_kind_of_task(view), said)]
    return [_case(wish, said, asked_about, view) for wish in wanted]


def _kind_of_task(view: ChatView) -> str:
    """What the customer chose when they were asked: the background names the task."""
    for intent in INTENTS:
        if f"task is: {intent.label['en']}" in view.background:
            return _FIRST_STEP.get(intent.name, "unclear")
    return "unclear"


def _wanted(earlier: list[str], said: str) -> list[Wish]:
    """Of a request that took several messages, what it began with; a bare order number adds nothing to it."""
    found = wishes(said)
    if not earlier:
        return found
    begun = [wish for wish in found if wish.kind not in _VAGUE]
    return begun or found


def _case(wish: Wish, said: str, asked_about: list[str], view: ChatView) -> Case:
    own = lexicon.orders(wish.text) or lexicon.orders(said) or asked_about
    latest = bool(_LATEST.search(wish.text))
    if not own and not latest and not lexicon.parcels(said):
        own = _pointed_at(wish, view)
    return Case(
        kind=wish.kind,
        text=wish.text,
        order_ids=tuple(own),
        tracking_nos=tuple(lexicon.parcels(said)),
        ticket_nos=tuple(lexicon.tickets(said)),
        contact=lexicon.contact(said),
        issue=_issue(wish.text),
        latest=latest,
    )


def _issue(text: str) -> str:
    given = lexicon.contact(text)
    words = text if given is None else (text if given in text else lexicon.plain(text)).replace(given, "")
    return _CONTACT_WORDS.sub("", words).strip(" ；;,，。.")


def _request_in_progress(view: ChatView) -> list[str]:
    """The customer's earlier messages that the agent answered with a question, if this message may answer it."""
    if not _asks(view.last_answer()) or not _may_answer(view.words):
        return []
    texts: list[str] = []
    for said in reversed(view.history):
        if said.by == "agent" and not _asks(said.text):
            break
        if said.by == "customer":
            texts.insert(0, said.text)
    return texts


def _asks(answer: str) -> bool:
    return bool(_QUESTION.search(answer))


def _may_answer(words: str) -> bool:
    kinds = {wish.kind for wish in wishes(words)}
    return only_details(words) or (kinds <= _VAGUE and len(words) <= _SHORT) or bool(lexicon.contact(words))


def _pointed_at(wish: Wish, view: ChatView) -> list[str]:
    """The order that "it" or "the other one" means: looked up among those of the conversation, newest first."""
    mentioned = list(_mentioned(view))
    if _OTHER_ONE.search(wish.text):
        rest = [order_id for order_id in dict.fromkeys(mentioned) if order_id != mentioned[0]]
        return rest[:1] if len(rest) == 1 else []
    return mentioned[:1] if mentioned and _POINTING.search(wish.text) else []


def _mentioned(view: ChatView) -> Iterator[str]:
    for said in reversed(view.history):
        yield from reversed(lexicon.orders(said.text))
