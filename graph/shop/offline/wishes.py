"""What a message asks for: one or more wishes, found clause by clause with patterns."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

from graph.shop.offline import lexicon
from graph.shop.texts import text

FALLBACK = "chat"

_KINDS = tomllib.loads(text("offline/wishes.toml"))
_PATTERNS = {
    kind: re.compile("|".join(entry["zh"] + entry["en"]), re.IGNORECASE) for kind, entry in _KINDS.items()
}
_INTENTS: Mapping[str, str] = {kind: entry.get("intent", FALLBACK) for kind, entry in _KINDS.items()}
_CLAUSE = re.compile(
    r"[。！!？?；;\n]+|[，,](?=\s*(?:再|也|帮我|and\b))|另外(?!一)|还有就是|顺便|同时"
    r"|\band (?:also|then)\b|\balso\b|\bplus\b",
    re.IGNORECASE,
)
_TALK = frozenset({"greeting", "thanks", "bye", "other"})
_EXPLAINED_BY: Mapping[str, frozenset[str]] = {
    "order": frozenset(
        {"parcel", "cancel", "address", "change", "aftersale", "ticket", "orders", "buy", "invoice"}
    ),
    "parcel": frozenset({"aftersale", "address", "delivery_rules"}),
    "aftersale_rules": frozenset({"aftersale"}),
    "unclear": frozenset({kind for kind, intent in _INTENTS.items() if intent != FALLBACK} | {"human"}),
}
"""A kind is no wish of its own where one of these stands in the same message."""
_FILLER = re.compile(
    r"[\W_]+|我的|电话|手机号?|邮箱|联系方式|订单号?|单号|是|为|my|phone|number|e-?mail|order|contact|is|it's|the",
    re.IGNORECASE,
)
_MOST_FILLER = 6
"""Characters that may be left beside a number in a message that only gives it."""


@dataclass(frozen=True)
class Wish:
    """One thing that the customer wants, and the words that say so."""

    kind: str
    text: str

    @property
    def intent(self) -> str:
        return _INTENTS.get(self.kind, FALLBACK)


def wishes(text: str) -> list[Wish]:
    """The wishes of a message in their order; one of kind `other` where there is none.

    >>> [wish.kind for wish in wishes("帮我查下快递到哪了，另外发票怎么开")]
    ['parcel', 'invoice']
    """
    merged: dict[str, Wish] = {}
    for clause in _clauses(text):
        kind = kind_of(clause)
        merged[kind] = _joined(merged.get(kind), Wish(kind, clause))
    kept = [wish for wish in merged.values() if not _explained(wish, merged)]
    serious = [wish for wish in kept if wish.kind not in _TALK]
    if "preference" in merged:  # "from now on, when I ask about an order …" does not ask about one now
        return [wish for wish in serious if wish.kind == "preference" or _is_about_now(wish)]
    return serious or kept or [Wish("other", text.strip())]


def _joined(before: Wish | None, wish: Wish) -> Wish:
    if before is None:
        return wish
    comma = ", " if wish.text.isascii() else "，"
    return Wish(wish.kind, f"{before.text}{comma}{wish.text}")


def _is_about_now(wish: Wish) -> bool:
    """A wish beside a preference that stands for itself: it names something, or cannot wait."""
    return wish.kind in ("aftersale", "human") or bool(
        lexicon.orders(wish.text) or lexicon.parcels(wish.text)
    )


def _explained(wish: Wish, others: Mapping[str, Wish]) -> bool:
    """Whether another wish of the message says more about the same thing."""
    numbers = set(lexicon.orders(wish.text))
    return any(
        kind in others and numbers <= set(lexicon.orders(others[kind].text))
        for kind in _EXPLAINED_BY.get(wish.kind, frozenset())
    )


def kind_of(clause: str) -> str:
    """The first kind whose pattern fits; a bare number stands for what it names."""
    words = lexicon.without_numbers(clause)
    for kind, pattern in _PATTERNS.items():
        if pattern.search(words):
            return kind
    if lexicon.tickets(clause):
        return "ticket"
    if lexicon.orders(clause):
        return "order"
    return "parcel" if lexicon.parcels(clause) else "other"


def only_details(text: str) -> bool:
    """A message that gives numbers or contacts and asks for nothing."""
    given = [*lexicon.orders(text), *lexicon.parcels(text), *lexicon.tickets(text), lexicon.contact(text)]
    rest = lexicon.without_numbers(text)
    return any(given) and kind_of(rest) in ("other", "order") and len(_FILLER.sub("", rest)) <= _MOST_FILLER


def _clauses(text: str) -> list[str]:
    parts = (part.strip(" ,，、:：") for part in _CLAUSE.split(text))
    return [part for part in parts if part]
