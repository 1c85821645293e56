"""One step of the demo model on one case: a call, or the words for its result."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from graph.offline.script import Call
from graph.offline.view import ChatView, ToolResult
from graph.shop.offline.case import Case
from graph.shop.offline.phrases import say, word
from graph.shop.offline.wishes import wishes


@dataclass(frozen=True)
class Step:
    """What a case needs next. Exactly one of the two is set."""

    call: Call | None = None
    text: str = ""


Play = Callable[[Case, ChatView], list[Step]]

_IDENTITY = ("order_id", "tracking_no", "ticket_no", "sku", "query", "action")
"""Arguments that tell one call of a tool from another."""
_STATES = re.compile(
    r"\b(pending_payment|paid|packing|shipped|delivered|completed|cancelled)\b",
)


def use(view: ChatView, tool: str, args: Mapping[str, Any], tell: Callable[[ToolResult], Step]) -> Step:
    """The tool's result put into words; the call first, where it has not been made in this turn."""
    result = view.found(tool, args, _IDENTITY)
    if result is None:
        if view.stopped or tool not in view.tools:
            return Step(text=say(view.language, "stopped" if view.stopped else "unavailable"))
        return Step(call=Call(tool, dict(args)))
    return tell(result) if result.ok else Step(text=failure(view, result))


def failure(view: ChatView, result: ToolResult) -> str:
    """An error in the customer's words."""
    language = view.language
    kind = result.envelope.get("error_kind")
    if kind == "not_found":
        what = next(
            (str(value) for name, value in result.args.items() if name.endswith(("_id", "_no", "sku"))), ""
        )
        return say(language, "not_found", what=what)
    if kind in ("denied", "in_doubt"):
        return say(language, str(kind))
    if kind in ("missing_argument", "ungrounded_argument"):
        asked = str(result.envelope.get("error_desc", ""))
        return say(language, "ask_contact_only" if "contact" in asked else "ask_order", **result.args)
    if kind == "business":
        state = _STATES.search(str(result.envelope.get("error_desc", "")))
        because = say(language, "because", status=word(language, "status", state[0])) if state else ""
        return say(language, "refused", because=because)
    return say(language, "unavailable")


def remembered_lines(view: ChatView) -> list[str]:
    """What is known of the customer: recalled memories, and wishes for the future said in this conversation."""
    recalled = [line[2:] for line in view.background.splitlines() if line.startswith("- ")]
    texts = [*view.customer_texts(), view.words]
    return recalled + [wish.text for text in texts for wish in wishes(text) if wish.kind == "preference"]
