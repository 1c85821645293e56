"""The two marked blocks of data in the context: what the session was about, and what matters for this turn."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import datetime

from memory.key_facts import bounded
from memory.recall import DEFAULT_FLOOR, GENERAL, IN_DOMAIN_FLOOR
from nodes.business import Business
from nodes.state import RecalledMemory, Route, SessionView

MOST_MEMORIES = 5
"""Injected in a turn."""
MOST_HEEDED = 3
"""Of them, those that stand there whether they fit what was said or not."""
MOST_CHARACTERS = 4000
"""Of a summary."""
FACTS = "Facts from this conversation:"
REMEMBERED = "Remembered about this customer:"
UNPROVEN = "Noted about this customer by others, not in their words:"
EARLIER = "From earlier conversations:"
_MARK = re.compile(r"</?(background|conversation_summary|customer_message|notice)\b[^>]*>", re.IGNORECASE)


def data(text: str) -> str:
    """Stored text made safe to stand in a block: it cannot close the block it stands in."""
    return _MARK.sub("", text).strip()


def summary_block(session: SessionView | None) -> str:
    """Rolling summary and key facts of this thread; empty where there are none."""
    if not session:
        return ""
    parts = [data(session["summary"])[:MOST_CHARACTERS]] if session["summary"] else []
    parts.extend(_listed(FACTS, _facts(session), ()))
    return f"<conversation_summary>\n{chr(10).join(parts)}\n</conversation_summary>" if parts else ""


def background_block(
    business: Business,
    route: Route | None,
    recalled: Sequence[RecalledMemory],
    session: SessionView | None,
    now: datetime,
    extra: Sequence[str] = (),
    *,
    known: str = "",
) -> str:
    """What the turn is about, how such requests are served, and what is known of the customer. Fixed for a turn.

    `known` is what the blocks before it say that are still sent: instructions, facts and memories that stand there
    are not said again.
    """
    there = frozenset(known.splitlines())
    intents = [business.intent(intent["name"]) for intent in route["intents"]] if route else []
    lines = [f"Now: {now:%Y-%m-%d %H:%M %Z}."]
    if intents:
        lines.append(f"The current task is: {'; also: '.join(intent.label_in('en') for intent in intents)}.")
        texts = [intent.instructions.strip() for intent in intents]
        lines.extend(text for text in texts if text and text not in known)
    lines.extend(extra)
    lines.extend(_listed(FACTS, _facts(session), there))
    lines.extend(_listed(REMEMBERED, [_item(m["content"]) for m in recalled if m.get("grounds")], there))
    lines.extend(_listed(UNPROVEN, [_item(m["content"]) for m in recalled if not m.get("grounds")], there))
    if session and session["customer"] and (short := f"In short: {data(session['customer'])}") not in known:
        lines.append(short)
    snapshots = [_item(snapshot) for snapshot in session["snapshots"]] if session else []
    lines.extend(_listed(EARLIER, snapshots, there))
    body = "\n".join(lines)
    return f"<background>\n{body}\n</background>"


def foreign_lines(block: str) -> list[str]:
    """Of a block that was sent: what it told of the customer that the customer had not said in those words."""
    found: list[str] = []
    if UNPROVEN not in block and EARLIER not in block:
        return found
    title = ""
    for line in block.splitlines():
        if line.startswith("- "):
            found += [line.removeprefix("- ")] if title in (UNPROVEN, EARLIER) else []
        else:
            title = line
    return found


def _facts(session: SessionView | None) -> list[str]:
    """A line each, by name; where there are too many, vital ones stay."""
    facts = bounded(session["key_facts"]) if session else {}
    return [_item(f"{data(name)}: {data(value)}") for name, value in sorted(facts.items())]


def _item(text: str) -> str:
    """One line of a list, so that it can be found again."""
    return f"- {' '.join(data(text).split())}"


def _listed(title: str, items: Sequence[str], there: Collection[str]) -> list[str]:
    new = [item for item in items if item not in there]
    return [title, *new] if new else []


def fitting(recalled: Sequence[RecalledMemory], route: Route, business: Business) -> list[RecalledMemory]:
    """The best few that concern the turn: what is labelled general, or not at all, where it fits what was said, and
    what is labelled with a domain of the turn's intents already where it fits a little.

    Before them comes what is to be heeded whether it fits or not: allergies and the like where something is
    recommended, and how the customer must not be reached where the label or the lack of one says so.
    """
    intents = [business.intent(intent["name"]) for intent in route["intents"]]
    domains = frozenset(domain for intent in intents for domain in intent.memory_domains)
    advises = any(intent.advises for intent in intents)
    heeded = [memory for memory in recalled if _is_heeded(memory, domains, advises)][:MOST_HEEDED]
    others = [memory for memory in recalled if memory not in heeded and _concerns(memory, domains)]
    return [*heeded, *others][:MOST_MEMORIES]


def _is_heeded(memory: RecalledMemory, domains: frozenset[str], advises: bool) -> bool:
    match memory.get("constrains"):
        case "health":
            return advises
        case "contact":
            labels = frozenset(memory["domains"]) - {GENERAL}
            return bool(labels & domains if labels else domains - {GENERAL}) and not advises
    return False


def _concerns(memory: RecalledMemory, domains: frozenset[str]) -> bool:
    labels = frozenset(memory["domains"])
    fit = memory.get("fit", DEFAULT_FLOOR)
    if (labels & domains) - {GENERAL}:
        return fit >= IN_DOMAIN_FLOOR
    elsewhere = domains and labels and GENERAL not in labels
    return not elsewhere and fit >= DEFAULT_FLOOR
