"""The two marked blocks of data in the context: what the session was about, and what matters for this turn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from nodes.business import Business
from nodes.state import RecalledMemory, Route, SessionView

GENERAL = "general"
MOST_MEMORIES = 5
"""Injected in a turn."""
_MARK = re.compile(r"</?(background|conversation_summary|customer_message|notice)\b[^>]*>", re.IGNORECASE)


def data(text: str) -> str:
    """Stored text made safe to stand in a block: it cannot close the block it stands in."""
    return _MARK.sub("", text).strip()


def summary_block(session: SessionView | None) -> str:
    """Rolling summary and key facts of this thread; empty where there are none."""
    if not session:
        return ""
    lines = [f"- {data(name)}: {data(value)}" for name, value in sorted(session["key_facts"].items())]
    parts = [data(session["summary"])] if session["summary"] else []
    if lines:
        parts.append("Facts from this conversation:\n" + "\n".join(lines))
    if not parts:
        return ""
    body = "\n".join(parts)
    return f"<conversation_summary>\n{body}\n</conversation_summary>"


def background_block(
    business: Business,
    route: Route | None,
    recalled: Sequence[RecalledMemory],
    session: SessionView | None,
    now: datetime,
    extra: Sequence[str] = (),
) -> str:
    """What the turn is about, how such requests are served, and what is known of the customer. Fixed for a turn."""
    lines = [f"Now: {now:%Y-%m-%d %H:%M %Z}."]
    names = [intent["name"] for intent in route["intents"]] if route else []
    intents = [business.intent(name) for name in names]
    if intents:
        task = "; also: ".join(intent.label_in("en") for intent in intents)
        lines.append(f"The current task is: {task}.")
        lines.extend(intent.instructions.strip() for intent in intents if intent.instructions)
    lines.extend(extra)
    if recalled:
        lines.append("Remembered about this customer:")
        lines.extend(f"- {data(memory['content'])}" for memory in recalled)
    if session and session["customer"]:
        lines.append(f"In short: {data(session['customer'])}")
    if session and session["snapshots"]:
        lines.append("From earlier conversations:")
        lines.extend(f"- {data(snapshot)}" for snapshot in session["snapshots"])
    body = "\n".join(lines)
    return f"<background>\n{body}\n</background>"


def fitting(recalled: Sequence[RecalledMemory], route: Route, business: Business) -> list[RecalledMemory]:
    """The best few that concern the turn's intents; what is labelled general, or not at all, always qualifies."""
    intents = [business.intent(intent["name"]) for intent in route["intents"]]
    domains = {domain for intent in intents for domain in intent.memory_domains}
    chosen = [
        memory
        for memory in recalled
        if not domains or not memory["domains"] or domains.union([GENERAL]).intersection(memory["domains"])
    ]
    return chosen[:MOST_MEMORIES]
