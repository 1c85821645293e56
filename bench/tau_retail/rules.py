"""What the shop allows, as pure changes to an order and its owner. Refusals are BusinessErrors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tools.errors import BusinessError

Document = dict[str, Any]
MODIFIED = "pending (item modified)"


def cancel(order: Document, user: Document, reason: str) -> None:
    """Cancel a pending order; every payment is refunded, to a gift card at once."""
    _require_status(order, "pending", "cancelled")
    refunds = []
    for payment in order["payment_history"]:
        refunds.append({**payment, "transaction_type": "refund"})
        _credit(user, payment["payment_method_id"], payment["amount"])
    order["payment_history"].extend(refunds)
    order["status"] = "cancelled"
    order["cancel_reason"] = reason


def give_back(order: Document, user: Document, item_ids: Sequence[str], payment_method_id: str) -> None:
    """Request the return of items of a delivered order, refunded to the way of payment or a gift card."""
    _require_status(order, "delivered", "returned")
    method = _method(user, payment_method_id)
    original = order["payment_history"][0]["payment_method_id"]
    if method["source"] != "gift_card" and payment_method_id != original:
        raise BusinessError("the refund goes to the original payment method or to a gift card")
    _require_items(order, item_ids)
    order["status"] = "return requested"
    order["return_items"] = sorted(item_ids)
    order["return_payment_method_id"] = payment_method_id


def exchange(
    order: Document,
    user: Document,
    variants: Mapping[str, Document],
    item_ids: Sequence[str],
    new_item_ids: Sequence[str],
    payment_method_id: str,
) -> None:
    """Request the exchange of items of a delivered order for other variants of the same products."""
    _require_status(order, "delivered", "exchanged")
    difference = _price_difference(order, variants, item_ids, new_item_ids)
    difference = round(difference, 2)
    _require_balance(_method(user, payment_method_id), difference, "the price difference")
    order["status"] = "exchange requested"
    order["exchange_items"] = sorted(item_ids)
    order["exchange_new_items"] = sorted(new_item_ids)
    order["exchange_payment_method_id"] = payment_method_id
    order["exchange_price_difference"] = difference


def modify_items(
    order: Document,
    user: Document,
    variants: Mapping[str, Document],
    item_ids: Sequence[str],
    new_item_ids: Sequence[str],
    payment_method_id: str,
) -> None:
    """Change items of a pending order to other variants of the same products; possible once."""
    _require_status(order, "pending", "modified")
    difference = _price_difference(order, variants, item_ids, new_item_ids)
    _require_balance(_method(user, payment_method_id), difference, "the new item")
    kind = "payment" if difference > 0 else "refund"
    order["payment_history"].append(
        {"transaction_type": kind, "amount": abs(difference), "payment_method_id": payment_method_id}
    )
    _credit(user, payment_method_id, -difference)
    for old, new in zip(item_ids, new_item_ids, strict=True):
        item = next(item for item in order["items"] if item["item_id"] == old)
        item.update(item_id=new, price=variants[new]["price"], options=variants[new]["options"])
    order["status"] = MODIFIED


def modify_payment(order: Document, user: Document, payment_method_id: str) -> None:
    """Pay a pending order by another way; the first one is refunded."""
    _require_status(order, "pending", "modified")
    method = _method(user, payment_method_id)
    history = order["payment_history"]
    if len(history) != 1 or history[0]["transaction_type"] != "payment":
        raise BusinessError("there should be exactly one payment for a pending order")
    paid = history[0]
    if paid["payment_method_id"] == payment_method_id:
        raise BusinessError("the new payment method should be different from the current one")
    _require_balance(method, paid["amount"], "the order")
    history.extend(
        [
            {**paid, "payment_method_id": payment_method_id},
            {**paid, "transaction_type": "refund"},
        ]
    )
    _credit(user, payment_method_id, -paid["amount"])
    _credit(user, paid["payment_method_id"], paid["amount"])


def modify_address(order: Document, address: Document) -> None:
    """Send a pending order elsewhere."""
    if order["status"] not in ("pending", MODIFIED):
        raise BusinessError(f"an order that is {order['status']} cannot be modified")
    order["address"] = address


def _require_status(order: Document, status: str, verb: str) -> None:
    if order["status"] != status:
        raise BusinessError(f"an order that is {order['status']} cannot be {verb}; it must be {status}")


def _method(user: Document, payment_method_id: str) -> Document:
    method: Document | None = user["payment_methods"].get(payment_method_id)
    if method is None:
        raise BusinessError("payment method not found", kind="not_found")
    return method


def _require_items(order: Document, item_ids: Sequence[str]) -> None:
    left = Counter(item_ids) - Counter(item["item_id"] for item in order["items"])
    if left:
        raise BusinessError(f"the order has no item {', '.join(left)}", kind="not_found")


def _price_difference(
    order: Document, variants: Mapping[str, Document], item_ids: Sequence[str], new_item_ids: Sequence[str]
) -> float:
    _require_items(order, item_ids)
    if len(item_ids) != len(new_item_ids):
        raise BusinessError("name exactly one new item for each item")
    difference = 0.0
    for old, new in zip(item_ids, new_item_ids, strict=True):
        item = next(item for item in order["items"] if item["item_id"] == old)
        variant = variants.get(new)
        if variant is None or variant["product_id"] != item["product_id"] or not variant["available"]:
            raise BusinessError(f"new item {new} not found or not available", kind="not_found")
        difference += variant["price"] - item["price"]
    return difference


def _require_balance(method: Document, amount: float, what: str) -> None:
    if method["source"] == "gift_card" and method["balance"] < amount:
        raise BusinessError(f"insufficient gift card balance to pay for {what}")


def _credit(user: Document, payment_method_id: str, amount: float) -> None:
    method = user["payment_methods"].get(payment_method_id)
    if method and method["source"] == "gift_card":
        method["balance"] = round(method["balance"] + amount, 2)
