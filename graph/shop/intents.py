"""What the shop's customers want, in the order in which it matters to the business."""

from __future__ import annotations

from graph.shop.review_words import ANSWER_WORDS, REQUIRED
from graph.shop.texts import lines, text
from nodes.business import Intent


def _intent(
    name: str,
    *,
    priority: int,
    zh: str,
    en: str,
    tools: tuple[str, ...],
    memory_domains: tuple[str, ...],
    review: bool = False,
    advises: bool = False,
) -> Intent:
    folder = f"intents/{name}"
    return Intent(
        name=name,
        description=text(f"{folder}/description.txt"),
        priority=priority,
        label={"zh": zh, "en": en},
        instructions=text(f"{folder}/instructions.md"),
        tools=tools,
        review=review,
        checklist=lines(f"{folder}/checklist.txt") if review else (),
        required=REQUIRED.get(name, ()),
        answer_words=ANSWER_WORDS.get(name, ()),
        memory_domains=memory_domains,
        advises=advises,
        examples=lines(f"{folder}/examples_zh.txt") + lines(f"{folder}/examples_en.txt"),
    )


INTENTS = (
    _intent(
        "aftersale",
        priority=50,
        zh="退换货、退款、发票或投诉",
        en="a return, refund, invoice or complaint",
        tools=("order_query", "aftersale_create", "aftersale_query", "knowledge_search"),
        memory_domains=("aftersale", "order"),
        review=True,
    ),
    _intent(
        "order",
        priority=40,
        zh="查询或修改订单",
        en="looking up or changing an order",
        tools=("order_query", "order_update", "logistics_query", "knowledge_search"),
        memory_domains=("order", "logistics"),
    ),
    _intent(
        "logistics",
        priority=30,
        zh="快递和配送",
        en="a parcel or delivery",
        tools=("logistics_query", "order_query", "knowledge_search"),
        memory_domains=("logistics", "order"),
    ),
    _intent(
        "consult",
        priority=20,
        zh="商品、价格或账号咨询",
        en="products, prices or your account",
        tools=("product_search", "stock_query", "knowledge_search"),
        memory_domains=("product", "account"),
        advises=True,
    ),
    _intent(
        "chat",
        priority=10,
        zh="其他问题或转人工",
        en="something else, or talking to a person",
        tools=("order_query", "logistics_query", "product_search", "knowledge_search"),
        memory_domains=("general",),
    ),
)
