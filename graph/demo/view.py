"""One line for what each stage of a turn did, from its update of the state. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage

Update = Mapping[str, Any]
LONGEST = 150


def describe(node: str, update: Update | None) -> list[str]:
    """What a stage did, for somebody who watches; a line for each thing."""
    return _DESCRIBE[node](update or {}) if node in _DESCRIBE else []


def _route(update: Update) -> list[str]:
    turn, route = update["turn"], update.get("route")
    opened = f"turn of {turn['user_id']}, language {turn['locale']}, {turn['started_at'][:16].replace('T', ' ')} UTC"
    if not route:
        return [opened]
    intents = ", ".join(f"{i['name']} {i['confidence']:.2f} ({i['source']})" for i in route["intents"])
    review = " · answers of this kind are reviewed" if route["review"] else ""
    return [opened, f"{intents} · offers {', '.join(route['tools'])}{review}"]


def _recall(update: Update) -> list[str]:
    found = [f"{memory['key']}: {memory['content']} ({memory['score']:.2f})" for memory in update["recalled"]]
    return found or ["nothing that fits is remembered"]


def _assemble(update: Update) -> list[str]:
    plan = update.get("context")
    if not plan:
        return []
    tokens = plan["tokens"]
    parts = " + ".join(f"{name} {count}" for name, count in tokens.items())
    return [f"{parts} = {sum(tokens.values())} of {plan['budget']} tokens"]


def _call_model(update: Update) -> list[str]:
    messages = [*update.get("messages", []), *([update["draft"]] if update.get("draft") else [])]
    lines = []
    for message in messages:
        if isinstance(message, AIMessage):
            lines += [f"calls {call['name']}({_arguments(call['args'])})" for call in message.tool_calls]
            if message.text:
                lines.append("drafts an answer" if update.get("draft") else "answers")
    return lines


def _execute(update: Update) -> list[str]:
    if update.get("approvals"):
        return [f"{one['name']} waits for approval by {one['by']}" for one in update["approvals"]]
    results = {m.tool_call_id: m.text for m in update.get("messages", []) if isinstance(m, ToolMessage)}
    return [
        f"{call['name']} → {call['error_kind'] or call['status']}: {_short(_data(results[call['id']]))}"
        for call in update.get("tool_calls", [])
        if call["id"] in results
    ]


def _approval(update: Update) -> list[str]:
    return [f"{one['type']} by {one['by']}" for one in update.get("decisions", {}).values()]


def _reflect(update: Update) -> list[str]:
    review = update.get("review")
    if not review:
        return []
    problems = f": {'; '.join(review['problems'])}" if review["problems"] else ""
    return [
        f"{review['verdict']} after {review['rounds']} round{'s' * (review['rounds'] != 1)}{_short(problems)}"
    ]


def _clarify(update: Update) -> list[str]:
    return [f"asks: {update['answer']}"]


def _write(_: Update) -> list[str]:
    return ["the exchange is queued, to be remembered behind the answer"]


_DESCRIBE: Mapping[str, Callable[[Update], list[str]]] = {
    "route": _route,
    "recall_memory": _recall,
    "assemble_context": _assemble,
    "clarify": _clarify,
    "call_model": _call_model,
    "execute_tools": _execute,
    "request_approval": _approval,
    "reflect": _reflect,
    "write_memory": _write,
}


def _arguments(args: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in args.items())


def _data(envelope: str) -> str:
    """What a result says, without its frame."""
    try:
        read: dict[str, Any] = json.loads(envelope)
    except ValueError:
        return envelope
    shown = read.get("data") if read.get("status") == "ok" else read.get("error_desc")
    return shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


def request_lines(requests: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the person who approves is shown."""
    return [f"{one['name']}({_arguments(one['args'])}) — {one['description']}" for one in requests]
