"""The shop's side of the demo model: routes, answers and memories by rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph.offline.script import Call, Reply
from graph.offline.view import ChatView
from graph.shop.offline import aftersale_steps, consult_steps, order_steps
from graph.shop.offline.case import Case, cases
from graph.shop.offline.memories import memories
from graph.shop.offline.phrases import say
from graph.shop.offline.steps import Play, Step, use
from graph.shop.offline.wishes import FALLBACK, only_details, wishes

_SURE, _FAIRLY, _UNSURE = 0.95, 0.75, 0.4
_GUESSES = (("order", _UNSURE), ("aftersale", 0.35))
"""What a customer may mean who only says that something is wrong."""


class ShopScript:
    """Implements `graph.offline.Script` for the shop."""

    def route(self, text: str, previous: str) -> list[tuple[str, float]]:
        """Intents of the wishes in their order."""
        found = wishes(text)
        if [wish.kind for wish in found] == ["unclear"]:
            return list(_GUESSES)
        if previous and (only_details(text) or [wish.kind for wish in found] == ["other"]):
            before = [wish for wish in wishes(previous) if wish.intent != FALLBACK]
            if before:
                return [(before[0].intent, _FAIRLY)]
        ranked: dict[str, float] = {}
        for wish in found:
            intent = _preference_intent(wish.text) if wish.kind == "preference" else wish.intent
            ranked.setdefault(intent, _FAIRLY if wish.kind == "other" else _SURE)
        return list(ranked.items())

    def reply(self, view: ChatView) -> Reply:
        """All calls that can be made now; the whole answer once none is left."""
        steps = [step for case in cases(view) for step in _PLAYS.get(case.kind, _talk)(case, view)]
        calls: list[Call] = []
        for step in steps:
            if step.call and step.call not in calls:
                calls.append(step.call)
        if calls:
            return Reply(calls=calls)
        texts = dict.fromkeys(step.text for step in steps if step.text)
        return Reply(text="\n".join(texts))

    def memories(self, text: str) -> list[dict[str, Any]]:
        """Lasting facts and preferences of a message."""
        return memories(text)


def _preference_intent(text: str) -> str:
    found = memories(text)
    domains = found[0]["domains"] if found else []
    return {"order": "order", "logistics": "logistics", "product": "consult"}.get(
        next(iter(domains), ""), "chat"
    )


def _talk(case: Case, view: ChatView) -> list[Step]:
    return [Step(text=say(view.language, case.kind if case.kind in _SENTENCES else "other"))]


def _remember(case: Case, view: ChatView) -> list[Step]:
    return [Step(text=say(view.language, "remembered", content=case.text))]


def _hand_over(case: Case, view: ChatView) -> list[Step]:
    args = {"reason": view.words[:200], "summary": "; ".join([*view.customer_texts()[-3:], view.words])[:500]}
    return [use(view, "handoff_to_human", args, lambda result: Step(text=say(view.language, "handed_over")))]


_SENTENCES = frozenset(
    {
        "greeting",
        "identity",
        "abilities",
        "thanks",
        "bye",
        "unclear",
        "buy",
        "change",
        "cancel_return",
        "other",
    }
)
_PLAYS: Mapping[str, Play] = {
    "order": order_steps.order,
    "orders": order_steps.order,
    "parcel": order_steps.parcel,
    "cancel": order_steps.cancel,
    "address": order_steps.change_address,
    "aftersale": aftersale_steps.open_request,
    "ticket": aftersale_steps.progress,
    "fees": consult_steps.rules,
    "invoice": consult_steps.rules,
    "payment_trouble": consult_steps.rules,
    "aftersale_rules": consult_steps.rules,
    "delivery_rules": consult_steps.rules,
    "account": consult_steps.rules,
    "product": consult_steps.products,
    "preference": _remember,
    "human": _hand_over,
}
