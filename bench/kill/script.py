"""The model of the kill test: what it does follows from the customer's message and the results so far, so that a
turn that is begun anew is played the same way."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from tests.support.model_replies import (
    Call,
    Reply,
    Request,
    extractor_reply,
    reviewer_reply,
    router_reply,
    structured,
)
from tests.support.model_server import role_of

Step = Sequence[tuple[str, str]]
"""Calls of one model message: tool and item."""

PLANS: dict[str, Sequence[Step]] = {
    "tools": (
        (("look_up", "a"),),
        (("book", "a"), ("file_ticket", "a"), ("look_up", "b")),
        (("file_ticket", "b"),),
    ),
    "approval": ((("look_up", "a"),), (("cancel", "a"), ("file_ticket", "a"), ("refund", "a"))),
    "review": ((("file_ticket", "a"), ("book", "a")),),
    "memory": (),
    "next": (),
}
_WISH = re.compile(r"wish (\w+) of case (\d+)")
DELAY = 0.004
"""Seconds that the model takes for each answer."""


def wish(kind: str, case: int) -> str:
    """What the customer writes."""
    if kind == "memory":
        return f"wish memory of case {case}: I am allergic to plant {case}"
    return f"wish {kind} of case {case}"


def answer(kind: str, case: int) -> str:
    """What the model says when all is done."""
    return f"done with {kind} of case {case}"


def script(request: Request) -> Reply:
    """The answer of the role that is asked."""
    match role_of(request):
        case "chat":
            return _chat(request)
        case "router":
            kind, _ = _latest_wish(request)
            return router_reply(request, ({"review": "claim", "next": "chat"}.get(kind, "work"), 0.95))
        case "reviewer":
            return reviewer_reply(request)
        case "extractor":
            return _extract(request)
        case "summariser":
            return structured(request, {"summary": "A talk.", "key_facts": {}})
    return structured(request, {"digest": {"kept": True}})


def _chat(request: Request) -> Reply:
    kind, case = _latest_wish(request)
    plan = PLANS[kind]
    done = _steps_done(request)
    if done >= len(plan) or not request.get("tools"):
        return Reply(text=answer(kind, case), delay=DELAY)
    calls = [Call(name, {"item": f"{case}-{item}"}) for name, item in plan[done]]
    return Reply(calls=calls, delay=DELAY)


def _latest_wish(request: Request) -> tuple[str, int]:
    texts = [str(m["content"]) for m in request["messages"] if m["role"] == "user"]
    for text in reversed(texts):
        if found := _WISH.findall(text):
            kind, case = found[-1]
            return kind, int(case)
    raise LookupError(f"no wish in {texts!r}")


def _steps_done(request: Request) -> int:
    """Messages with calls since the customer's latest."""
    steps = 0
    for message in reversed(request["messages"]):
        if message["role"] == "user" and _WISH.search(str(message["content"])):
            break
        steps += bool(message.get("tool_calls"))
    return steps


def _extract(request: Request) -> Reply:
    text = json.dumps(request["messages"], ensure_ascii=False)
    found: list[dict[str, Any]] = [
        {
            "key": f"allergy_{case}",
            "content": f"The customer is allergic to plant {case}.",
            "type": "fact",
            "confidence": 0.95,
            "importance": 0.9,
            "domains": ["work"],
            "evidence": f"I am allergic to plant {case}",
        }
        for case in dict.fromkeys(re.findall(r"I am allergic to plant (\d+)", text))
    ]
    return extractor_reply(request, *found)
