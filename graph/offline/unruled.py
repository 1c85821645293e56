"""The demo model of a business that brings no rules: it looks things up by their number and says what it cannot do."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from graph.offline.model import OfflineModel
from graph.offline.script import Call, Reply
from graph.offline.view import ChatView, ToolResult
from memory.keywords import terms
from nodes.business import Business, Intent
from nodes.settings import NodeSettings, Role

KNOWLEDGE, HANDOFF = "knowledge_search", "handoff_to_human"
MOST_CHARACTERS = 700
"""Of a result told to the customer."""
LEAST_TERMS = 2
"""Of a message that is looked up in the documents; a shorter one greets or agrees."""
FAIRLY, VAGUELY = 0.9, 0.7
_PERSON = re.compile(
    r"人工|真人|客服人员|\b(?:human|real person|talk to (?:a )?person|agent)\b", re.IGNORECASE
)
_WORDS = {
    "en": {
        "lacks": "I am the offline demo model and have no rules for {name}. I can look something up when you give me "
        "its number, search the documents, and hand you over to a person. A real model does more: set "
        "OPENAI_API_KEY or OPENAI_BASE_URL.",
        "found": "This is what I found (offline demo model): {found}",
        "failed": "That did not work: {why}",
        "handed_over": "I have handed you over to a colleague.",
        "stopped": "I have to stop here; not everything could be done.",
    },
    "zh": {
        "lacks": "我是离线演示模型，没有为 {name} 编写的规则。给我编号，我可以查询；也可以检索文档，或为您转接人工。"
        "真正的模型能做得更多：请设置 OPENAI_API_KEY 或 OPENAI_BASE_URL。",
        "found": "查询结果（离线演示模型）：{found}",
        "failed": "未能完成：{why}",
        "handed_over": "已为您转接同事。",
        "stopped": "只能先到这里，还有内容没有完成。",
    },
}


def with_offline_model(business: Business) -> Business:
    """The business as it can be served without an endpoint: with its own rules, or with these where it has none."""
    return business if business.offline else replace(business, offline=_model_of(business))


def _model_of(business: Business) -> Callable[[Role, NodeSettings], OfflineModel]:
    def make(role: Role, settings: NodeSettings) -> OfflineModel:
        reading = {
            spec.name: spec.parameters for spec in business.tools_for(settings) if spec.effect == "read"
        }
        return OfflineModel(role=role, script=UnruledScript(business, reading))

    return make


@dataclass(frozen=True)
class UnruledScript:
    """Implements `graph.offline.Script` from the declaration alone."""

    business: Business
    reading: Mapping[str, Mapping[str, Any]]
    """Tools without side effects, with the schemas of their arguments; without rules no other is called."""

    def route(self, text: str, previous: str) -> list[tuple[str, float]]:
        """The intent that has most words in common with the message, else one that can look up what it names."""
        asked = set(terms(text))
        shared = {intent.name: len(asked & _vocabulary(intent)) for intent in self.business.intents}
        best = max(shared, key=lambda name: shared[name])
        if shared[best]:
            return [(best, FAIRLY)]
        able = [intent for intent in self.business.intents if self._finds(intent, text)]
        leading = max(able, key=lambda intent: intent.priority, default=None)
        return [(leading.name, FAIRLY)] if leading else [(self.business.fallback, VAGUELY)]

    def _finds(self, intent: Intent, text: str) -> bool:
        return any(_arguments(self.reading[name], text) for name in intent.tools if name in self.reading)

    def reply(self, view: ChatView) -> Reply:
        """A call whose arguments stand in the message; then what came of it, as it is."""
        words = _WORDS[view.language]
        if view.results:
            return Reply(text=_told(view.results[-1], words))
        if view.stopped:
            return Reply(text=words["stopped"])
        call = next(_calls(view, self.reading), None)
        return Reply(calls=[call]) if call else Reply(text=words["lacks"].format(name=self.business.name))

    def memories(self, text: str) -> list[dict[str, Any]]:
        """Nothing: what is worth remembering takes understanding."""
        return []


def _vocabulary(intent: Intent) -> set[str]:
    return set(terms(" ".join([intent.description, *intent.label.values(), *intent.examples])))


def _calls(view: ChatView, reading: Collection[str]) -> Iterator[Call]:
    """What could be called, the likeliest first: tools in the order in which they are offered."""
    if HANDOFF in view.tools and _PERSON.search(view.words):
        yield Call(HANDOFF, {"reason": view.words[:200], "summary": view.words[:500]})
    offered = {name: schema for name, schema in view.schemas.items() if name in reading and name != KNOWLEDGE}
    for name, schema in offered.items():
        if args := _arguments(schema, view.words):
            yield Call(name, args)
    if len(terms(view.words)) < LEAST_TERMS:
        return
    if KNOWLEDGE in view.tools:
        yield Call(KNOWLEDGE, {"query": view.words[:200]})
    yield from (Call(name) for name, schema in offered.items() if not schema.get("required"))


def _arguments(schema: Mapping[str, Any], words: str) -> dict[str, Any]:
    """Arguments found in the message by the shape of their examples; empty where a required one is not there."""
    found: dict[str, Any] = {}
    for name, field in schema.get("properties", {}).items():
        shapes = [_shape(str(example)) for example in field.get("examples", [])]
        match = next((m for shape in shapes if (m := shape.search(_folded(words)))), None)
        if match:
            found[name] = match[0]
    return found if found.keys() >= set(schema.get("required", [])) else {}


def _shape(example: str) -> re.Pattern[str]:
    """Any text of the same letters-and-digits shape as an example; never plain words.

    >>> _shape("B-1024").search("when is b-2048?")[0]
    'b-2048'
    """
    if not any(char.isdigit() for char in example):
        return re.compile(r"(?!)")
    parts = (
        r"\d" if char.isdigit() else "[A-Za-z]" if char.isascii() and char.isalpha() else re.escape(char)
        for char in example
    )
    return re.compile(rf"(?<![A-Za-z0-9]){''.join(parts)}(?![A-Za-z0-9])")


def _folded(words: str) -> str:
    return unicodedata.normalize("NFKC", words)


def _told(result: ToolResult, words: Mapping[str, str]) -> str:
    if not result.ok:
        return words["failed"].format(why=result.envelope.get("error_desc", "?"))
    if result.name == HANDOFF:
        return words["handed_over"]
    lines = "\n".join(_lines(result.envelope.get("data"), ""))
    short = lines if len(lines) <= MOST_CHARACTERS else f"{lines[:MOST_CHARACTERS]}…"
    return words["found"].format(found=f"\n{short}" if short else "—")


def _lines(value: Any, name: str) -> Iterator[str]:
    """A JSON value as lines `name: value`."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _lines(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        for inner in value:
            yield from _lines(inner, name)
    else:
        yield f"{name}: {value}" if name else str(value)
