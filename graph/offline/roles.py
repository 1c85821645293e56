"""What the small roles answer: plain rules over the marked blocks of their prompts."""

from __future__ import annotations

import json
import re
from typing import Any

from graph.offline.script import Script
from graph.offline.view import blocks, language_of
from nodes.settings import Role

_LONGEST_SUMMARY = 600
_LONGEST_LINE = 120
_IDENTIFIER = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z0-9-]*\d{4})[A-Z]{2,4}-?[0-9][0-9-]{5,}(?![A-Za-z0-9])")
_MOST_RECORDS = 5
_LONGEST_VALUE = 80


def answer(role: Role, prompt: str, script: Script) -> dict[str, Any]:
    """The role's JSON answer to its prompt (the text of the last message)."""
    if role == "router":
        return route(prompt, script)
    if role == "extractor":
        return {"memories": script.memories(blocks(prompt).get("customer_message", prompt))}
    if role == "summariser":
        return summarise(prompt)
    if role == "compactor":
        return {"digest": digest(blocks(prompt).get("result", prompt))}
    return {"verdict": "ORIGINAL_ANSWER", "problems": [], "answer": None}


def route(prompt: str, script: Script) -> dict[str, Any]:
    """The intents of the message in the prompt."""
    found = blocks(prompt)
    ranked = script.route(found.get("message", prompt), found.get("previous_message", ""))
    return {"intents": [{"name": name, "confidence": confidence} for name, confidence in ranked]}


def summarise(prompt: str) -> dict[str, Any]:
    """The conversation's lines, shortened, newest kept; identifiers as key facts."""
    found = blocks(prompt)
    lines = [line.strip() for line in found.get("conversation", prompt).splitlines() if line.strip()]
    kept: list[str] = []
    room = _LONGEST_SUMMARY
    for line in reversed(lines):
        short = line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + "…"
        if len(short) > room:
            break
        kept.insert(0, short)
        room -= len(short)
    earlier = found.get("earlier_summary", "")
    mentioned = list(dict.fromkeys(_IDENTIFIER.findall("\n".join([earlier, *lines]))))
    opening = [earlier[-_LONGEST_SUMMARY:]] if earlier else []
    joint = "；" if language_of(" ".join(lines)) == "zh" else "; "
    facts = {"mentioned": ", ".join(mentioned)} if mentioned else {}
    return {"summary": "\n".join([*opening, joint.join(kept)]), "key_facts": facts}


def digest(result: str) -> dict[str, Any]:
    """A result cut to its plain values and the first records of its lists."""
    try:
        data = json.loads(result)
    except ValueError:
        return {"text": result[: 5 * _LONGEST_VALUE]}
    short = _short(data)
    return short if isinstance(short, dict) else {"items": short}


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _short(inner) for name, inner in value.items()}
    if isinstance(value, list):
        rest = len(value) - _MOST_RECORDS
        return [_short(inner) for inner in value[:_MOST_RECORDS]] + ([f"+{rest} more"] if rest > 0 else [])
    if isinstance(value, str) and len(value) > _LONGEST_VALUE:
        return value[:_LONGEST_VALUE] + "…"
    return value
