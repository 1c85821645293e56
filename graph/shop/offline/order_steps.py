"""Orders and parcels: look up, tell, cancel, change the address."""

from __future__ import annotations

import re
from typing import Any

from graph.offline.view import ChatView, ToolResult
from graph.shop.offline import lexicon
from graph.shop.offline.case import Case
from graph.shop.offline.phrases import Language, listed, moment, say, word
from graph.shop.offline.steps import Step, remembered_lines, use

_NO_PAYMENT = re.compile(
    r"(不用|不要|不必|别|无需|不需要).{0,8}(支付|付款)|\b(don.t|do not|no need|without|skip|never)\b.{0,40}\bpay",
    re.IGNORECASE,
)
_ONLY_PLACE = re.compile(
    r"(直接|只要?|简单).{0,8}(到哪|位置|在哪)|\b(just|only)\b.{0,30}\b(where|location|place)\b", re.IGNORECASE
)
_ADDRESS = re.compile(
    r"(?:改成|改为|改到|换成|换到|寄到|送到|新地址[是为:：]?|地址[是为:：])\s*([^，。；;,\n]{4,})"
    r"|\b(?:to|address is|address:)\s+((?=[^\n]*\d)[^\n.;]{6,})",
    re.IGNORECASE,
)
_NEW_ADDRESS = re.compile(
    r"^(?=.*(?:省|市|区|县|路|街|号|\d+ .*(?:Road|Street|Rd|St|Avenue|Lane)))[^?？]{6,}$", re.IGNORECASE
)
_OPEN_STATES = ("pending_payment", "paid", "packing")


def order(case: Case, view: ChatView) -> list[Step]:
    """The state of the orders that were named, or of the newest; without a number, the list."""
    if case.order_ids:
        return [_look_up(order_id, view) for order_id in case.order_ids]
    return [use(view, "order_query", {}, lambda result: Step(text=_list(result, view.language)))]


def parcel(case: Case, view: ChatView) -> list[Step]:
    """Where the parcels are: by tracking number, by order, or those of the newest order under way."""
    if case.tracking_nos and "logistics_query" in view.tools | {result.name for result in view.results}:
        return [
            use(
                view,
                "logistics_query",
                {"tracking_no": number},
                lambda result: Step(text=_parcel(result, view)),
            )
            for number in case.tracking_nos
        ]
    if case.order_ids:
        return [_look_up(order_id, view) for order_id in case.order_ids]
    return [use(view, "order_query", {}, lambda result: _newest_under_way(result, view))]


def cancel(case: Case, view: ChatView) -> list[Step]:
    """Cancel the orders named, or the newest one when the customer says so."""
    if case.order_ids:
        return [_cancel(order_id, view) for order_id in case.order_ids]
    return [use(view, "order_query", {}, lambda result: _cancel_listed(result, case, view))]


def change_address(case: Case, view: ChatView) -> list[Step]:
    """Change the address, once order and address are known."""
    if not case.order_ids:
        return [use(view, "order_query", {}, lambda result: Step(text=which_order(result, view.language)))]
    address = new_address(view.words) or new_address(case.text)
    if address is None:
        return [Step(text=say(view.language, "ask_address"))]
    args = {"order_id": case.order_ids[0], "action": "change_address", "address": address}
    return [
        use(
            view,
            "order_update",
            args,
            lambda result: Step(text=say(view.language, "address_changed", **result.data)),
        )
    ]


def new_address(text: str) -> str | None:
    """The address in the customer's words, as it stands there."""
    match = _ADDRESS.search(text)
    if match:
        found = (match[1] or match[2]).strip()
        return None if lexicon.orders(found) else found.removesuffix("吧").strip()
    return text.strip() if _NEW_ADDRESS.match(text.strip()) and not lexicon.orders(text) else None


def which_order(result: ToolResult, language: Language) -> str:
    """The question which of the latest orders is meant."""
    orders = result.data.get("orders", [])
    if not orders:
        return say(language, "no_orders")
    return say(language, "ask_which_order", orders=_orders(orders, language))


def _look_up(order_id: str, view: ChatView) -> Step:
    return use(
        view, "order_query", {"order_id": order_id}, lambda result: Step(text=_order(result.data, view))
    )


def _newest_under_way(result: ToolResult, view: ChatView) -> Step:
    orders = result.data.get("orders", [])
    under_way = next((each for each in orders if each["status"] == "shipped"), None)
    if under_way is None:
        return Step(text=_list(result, view.language))
    return _look_up(under_way["order_id"], view)


def _cancel_listed(result: ToolResult, case: Case, view: ChatView) -> Step:
    orders = result.data.get("orders", [])
    open_orders = [each for each in orders if each["status"] in _OPEN_STATES]
    if case.latest and orders:
        return _cancel(orders[0]["order_id"], view)
    if len(open_orders) == 1:
        return _cancel(open_orders[0]["order_id"], view)
    return Step(text=which_order(result, view.language))


def _cancel(order_id: str, view: ChatView) -> Step:
    def tell(result: ToolResult) -> Step:
        refund = result.data.get("refund")
        if not refund:
            return Step(text=say(view.language, "cancelled_unpaid", order_id=order_id))
        return Step(text=say(view.language, "cancelled", order_id=order_id, total=refund["amount"]))

    return use(view, "order_update", {"order_id": order_id, "action": "cancel"}, tell)


def _order(data: dict[str, Any], view: ChatView) -> str:
    language = view.language
    wants = "\n".join(remembered_lines(view))
    parcels = data.get("parcels") or []
    if _ONLY_PLACE.search(wants):
        return _brief(data, parcels, language)
    status = word(language, "status", data.get("status"))
    head = say(language, "order_head", order_id=data.get("order_id"), status=status)
    ways = "".join(_way(parcel, language, "order_place", "order_delivered") for parcel in parcels)
    sentences = [head + ways + ("。" if language == "zh" else ".")]
    if not _NO_PAYMENT.search(wants):
        payment = word(language, "payment_status", data.get("payment_status"))
        sentences.append(say(language, "order_payment", payment_status=payment, total=data.get("total")))
    return ("" if language == "zh" else " ").join(sentences)


def _brief(data: dict[str, Any], parcels: list[dict[str, Any]], language: Language) -> str:
    order_id = data.get("order_id")
    if not parcels:
        status = word(language, "status", data.get("status"))
        return say(language, "brief_waiting", order_id=order_id, status=status)
    told = [
        _way({**parcel, "order_id": order_id}, language, "brief_place", "brief_delivered")
        for parcel in parcels
    ]
    return " ".join(told)


def _way(parcel: dict[str, Any], language: Language, on_the_way: str, arrived: str) -> str:
    times = {name: moment(parcel.get(name)) for name in ("updated_at", "delivered_at")}
    return say(language, arrived if parcel.get("delivered_at") else on_the_way, **{**parcel, **times})


def _parcel(result: ToolResult, view: ChatView) -> str:
    data = result.data
    newest = data["events"][0]
    values = {**data, **newest, "at": moment(newest["at"])}
    return say(view.language, "parcel_delivered" if data.get("delivered_at") else "parcel", **values)


def _list(result: ToolResult, language: Language) -> str:
    orders = result.data.get("orders", [])
    if not orders:
        return say(language, "no_orders")
    return say(language, "order_list", orders=_orders(orders, language))


def _orders(orders: list[dict[str, Any]], language: Language) -> str:
    return listed(
        language,
        [
            say(
                language,
                "order_list_item",
                order_id=each["order_id"],
                status=word(language, "status", each["status"]),
                items=" + ".join(each["items"]),
                total=each["total"],
            )
            for each in orders
        ],
    )
