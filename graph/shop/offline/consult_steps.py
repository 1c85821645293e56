"""Products, stock and the rules in the shop's documents."""

from __future__ import annotations

import re
from typing import Any

from graph.offline.view import ChatView, ToolResult
from graph.shop.offline.case import Case
from graph.shop.offline.phrases import listed, say
from graph.shop.offline.steps import Step, remembered_lines, use

_NOISE = re.compile(
    r"请问|帮我|我想|想买|有没有|还有|多少钱|价格|推荐一?下?|有货|现货|库存|什么时候|补货|怎么样|哪款|哪个|好用|适合我"
    r"|一下|你们|店里|卖|吗|呢|吧|啊|的|个|款|找|看看|有|能|[?？!！。，,]"
    r"|\b(do|does|you|have|sell|any|is|are|there|the|a|an|in stock|stock|how much|price|of|what|what's|which|would|can|"
    r"recommend|suggest|looking for|i'm|i am|i|me|for|please|some|got|when|will|be|back|it|this|one|good|something)\b",
    re.IGNORECASE,
)
_STOCK = re.compile(r"有货|现货|库存|补货|几件|\b(in stock|stock|available)\b", re.IGNORECASE)
_ALLERGY = re.compile(r"对(.{1,8}?)过敏|\ballergic to (?:the )?([a-z]+)", re.IGNORECASE)
_MOST_PRODUCTS = 3
_LONGEST_PASSAGE = 240


def products(case: Case, view: ChatView) -> list[Step]:
    """Articles that fit; the exact stock where it was asked for."""
    query = re.sub(r"\s+", " ", _NOISE.sub(" ", case.text)).strip() or case.text
    return [use(view, "product_search", {"query": query}, lambda result: _products(result, case, view))]


def rules(case: Case, view: ChatView) -> list[Step]:
    """What the shop's documents say."""
    return [
        use(view, "knowledge_search", {"query": case.text}, lambda result: Step(text=_passage(result, view)))
    ]


def _products(result: ToolResult, case: Case, view: ChatView) -> Step:
    language = view.language
    avoided = _avoided(view)
    offered = result.data.get("products", [])
    found = [each for each in offered if not _holds(each, avoided)]
    if not found:
        return Step(text=say(language, "no_products"))
    if _STOCK.search(case.text) and "stock_query" in view.tools | {each.name for each in view.results}:
        return use(
            view, "stock_query", {"sku": found[0]["sku"]}, lambda stock: Step(text=_stock(stock, view))
        )
    told = [
        say(
            language,
            "product",
            **{**each, "stock": say(language, "in_stock" if each["in_stock"] else "sold_out")},
        )
        for each in found[:_MOST_PRODUCTS]
    ]
    heeded = say(language, "heeded", what=listed(language, avoided)) if len(found) < len(offered) else ""
    answer = say(language, "products", products=listed(language, told))
    return Step(text=f"{answer} {heeded}" if heeded and language == "en" else answer + heeded)


def _stock(result: ToolResult, view: ChatView) -> str:
    return say(view.language, "stock" if result.data["stock"] else "stock_none", **result.data)


def _avoided(view: ChatView) -> list[str]:
    """What the customer is allergic to."""
    text = "\n".join([*remembered_lines(view), view.words])
    return list(dict.fromkeys(match[1] or match[2] for match in _ALLERGY.finditer(text)))


def _holds(product: dict[str, Any], avoided: list[str]) -> bool:
    """Whether the product's text names one of these as contained ("不含坚果" does not)."""
    text = f"{product.get('name', '')} {product.get('description', '')}".lower()
    return any(
        re.search(
            rf"(?<!不含)(?<!不含坚果和)(?<!no )(?<!no nuts or ){re.escape(what.lower().rstrip('s'))}", text
        )
        for what in avoided
    )


def _passage(result: ToolResult, view: ChatView) -> str:
    passages = result.data.get("passages", [])
    if not passages:
        return say(view.language, "no_passage")
    same = [
        each for each in passages if ("\u4e00" <= each["title"][:1] <= "\u9fff") == (view.language == "zh")
    ]
    best = (same or passages)[0]
    text = best["text"].removeprefix(best["title"]).strip().replace("\n", " ")
    if len(text) > _LONGEST_PASSAGE:
        text = text[:_LONGEST_PASSAGE] + "…"
    return say(view.language, "passage", text=text, title=best["title"])
