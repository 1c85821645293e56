"""After-sales: find the order, ask for what is missing, open the request, tell how it stands."""

from __future__ import annotations

import re
from typing import Any

from graph.offline.view import ChatView, ToolResult
from graph.shop.offline import lexicon
from graph.shop.offline.case import Case
from graph.shop.offline.order_steps import which_order
from graph.shop.offline.phrases import say, word
from graph.shop.offline.steps import Step, use
from graph.shop.texts import lines

_ALIKE = [line.split(", ") for line in lines("offline/alike.txt") if not line.startswith("#")]
"""Words that may name the same article, a line each."""
_NO_REASON = re.compile(
    r"^(我|想|要|需要|申请|帮我|可以|怎么|把|这个|订单|的|一下|退货|退款|换货|维修|退掉?|换|修|吗|了|吧|\W"
    r"|\b(i|want|would|like|to|please|can|a|the|my|order|refund|return|exchange|repair|for|it|this|need|get|help|me)\b)+$",
    re.IGNORECASE,
)
"""A request that does not say what is wrong."""
_SENT = ("shipped", "delivered", "completed")


def open_request(case: Case, view: ChatView) -> list[Step]:
    """Open a request: the order is found by what it holds where no number was given."""
    if case.order_ids:
        return [_create(case, case.order_ids[0], "", view)]
    return [use(view, "order_query", {}, lambda result: _for_listed(result, case, view))]


def progress(case: Case, view: ChatView) -> list[Step]:
    """How the customer's requests stand."""
    args: dict[str, Any] = {"ticket_no": case.ticket_nos[0]} if case.ticket_nos else {}
    if not args and case.order_ids:
        args = {"order_id": case.order_ids[0]}
    return [use(view, "aftersale_query", args, lambda result: Step(text=_tickets(result, view)))]


def _for_listed(result: ToolResult, case: Case, view: ChatView) -> Step:
    sent = [each for each in result.data.get("orders", []) if each["status"] in _SENT]
    fitting = [each for each in sent if any(names_article(case.issue, item) for item in each["items"])]
    if len(fitting) != 1:
        return Step(text=which_order(result, view.language))
    return _create(case, fitting[0]["order_id"], " + ".join(fitting[0]["items"]), view)


def _create(case: Case, order_id: str, items: str, view: ChatView) -> Step:
    language = view.language
    if _NO_REASON.match(lexicon.without_numbers(case.issue)):
        return Step(text=say(language, "ask_issue"))
    if case.contact is None:
        key = "ask_contact" if items else "ask_contact_only"
        return Step(text=say(language, key, order_id=order_id, items=items))
    args = {"order_id": order_id, "issue_desc": case.issue, "contact": case.contact}
    return use(
        view,
        "aftersale_create",
        args,
        lambda result: Step(text=say(language, "ticket_created", **result.data)),
    )


def _tickets(result: ToolResult, view: ChatView) -> str:
    language = view.language
    tickets = result.data.get("tickets", [])
    if not tickets:
        return say(language, "no_tickets")
    told = [
        say(language, "ticket", **{**each, "status": word(language, "ticket_status", each["status"])})
        for each in tickets
    ]
    return ("" if language == "zh" else " ").join(told)


def names_article(text: str, article: str) -> bool:
    """Whether a customer's words may mean this article.

    >>> names_article("收到的杯子碎了", "手绘陶瓷茶具套装（青花）")
    True
    """
    text, article = text.lower(), article.lower()
    if any(any(w in text for w in group) and any(w in article for w in group) for group in _ALIKE):
        return True
    return any(
        len(name) >= 2 and name in text for name in re.findall(r"[\u4e00-\u9fff]{2,4}$|[a-z]{4,}", article)
    )
