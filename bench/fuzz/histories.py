"""Conversations as they may stand in a store, and whether a strict provider takes what becomes of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from pydantic import SecretStr

from bench.fuzz.texts import LONG, any_text
from memory.clean import clean_text
from memory.tokens import count, cut
from nodes.context_groups import turn_groups, with_block
from nodes.context_plan import OVERHEAD, Parts, message_text, plan_context
from nodes.context_render import render_context
from nodes.openai_chat import EndpointChat
from nodes.shortening import STUB_TOKENS
from tests.support.model_wire import protocol_fault

MODEL = "gpt-5-mini"
SYSTEM = "You are helpful."
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
BLOCKS = ("", "<background>\n订单\n</background>", "<background>\n🙂 order\n</background>")
SUMMARY = "<conversation_summary>\n退货 👩‍👩‍👧‍👦\n</conversation_summary>"
_chat = EndpointChat(model=MODEL, api_key=SecretStr("none"), base_url="http://127.0.0.1:9/v1", max_retries=0)


def history_fault(chance: Random) -> str | None:
    """What is wrong with the request that a random history becomes; None where all is well."""
    messages = list(_history(chance))
    budget = chance.choice((300, 1000, 3000, 6000, 14_000))
    ids = [None, "not-here", *(message.id for message in messages)]
    parts = Parts(
        system=SYSTEM,
        schemas=json.dumps(TOOLS),
        tools=["look"],
        summary=chance.choice(("", SUMMARY)),
        background=chance.choice(BLOCKS),
        turns=turn_groups(messages),
        folded_until=chance.choice(ids) if chance.random() < 0.3 else None,
        history_start=chance.choice(ids) if chance.random() < 0.3 else None,
    )
    plan = plan_context(parts, budget=budget, count=_count, tight=chance.random() < 0.2)
    sent = render_context(plan, SYSTEM, messages, lambda text, tokens: cut(text, tokens, MODEL))
    return _wire_fault(sent) or _size_fault(messages, sent, budget)


def _wire_fault(sent: list[AnyMessage]) -> str | None:
    """As it goes over the line: written by the client, read by a strict endpoint."""
    payload = _chat._get_request_payload(sent)
    request = {"model": MODEL, "messages": payload["extra_body"]["messages"], "tools": TOOLS}
    request = json.loads(json.dumps(request, ensure_ascii=False).encode())
    roles = [message["role"] for message in request["messages"]]
    if roles[0] != "system" or "system" in roles[1:]:
        return f"system messages stand elsewhere than first: {roles}"
    if "user" not in roles:
        return "no message of the customer is left"
    return protocol_fault(request)


def _size_fault(messages: list[AnyMessage], sent: list[AnyMessage], budget: int) -> str | None:
    size = sum(_count(message_text(message)) + OVERHEAD for message in sent)
    floor = (STUB_TOKENS + 40) * len(turn_groups(messages)[-1].messages) + 200
    return f"{size} tokens are sent, {budget} were allowed" if size > max(budget, floor) else None


def _count(text: str) -> int:
    return count(text, MODEL)


def _history(chance: Random) -> Iterator[AnyMessage]:
    """Whole turns, and all that interruptions, forks, late approvals and edits by hand make of them."""
    for turn in range(chance.randint(1, 6)):
        question = HumanMessage(_text(chance), id=f"h{turn}")
        yield with_block(question, chance.choice(BLOCKS)) if chance.random() < 0.5 else question
        if chance.random() < 0.1:
            yield HumanMessage(_text(chance), id=f"again{turn}")
        yield from _steps(chance, turn)
        if chance.random() < 0.7:
            yield AIMessage(_text(chance), id=f"a{turn}", name=chance.choice((None, None, "staff")))
        if chance.random() < 0.03:
            yield SystemMessage("put here by hand", id=f"s{turn}")
    if chance.random() < 0.7:
        yield HumanMessage(_text(chance), id="last")


def _steps(chance: Random, turn: int) -> Iterator[AnyMessage]:
    late: list[AnyMessage] = []
    for step in range(chance.randint(0, 4)):
        ids = [f"c{turn}.{step}.{n}" for n in range(chance.randint(0, 3))]
        yield _calls(chance, ids, f"a{turn}.{step}")
        for id in ids:
            result = ToolMessage(_text(chance), tool_call_id=id, id=f"r{id}")
            fate = chance.random()
            if fate < 0.1:
                continue  # never came
            if fate < 0.2:
                late.append(result)
                continue
            yield result
            if fate > 0.97:
                yield result.model_copy(update={"id": f"twice{id}"})
    chance.shuffle(late)
    yield from late
    if chance.random() < 0.05:
        yield ToolMessage("of no call", tool_call_id=f"nowhere{turn}", id=f"n{turn}")


def _calls(chance: Random, ids: list[str], id: str) -> AIMessage:
    unreadable = {i for i in ids if chance.random() < 0.1}
    calls: list[Any] = [
        {"name": "look", "args": {"x": clean_text(any_text(chance))}, "id": i}
        for i in ids
        if i not in unreadable
    ]
    invalid: list[Any] = [
        {"name": chance.choice(("look", None)), "args": '{"x": ', "id": i, "error": "cut off"}
        for i in unreadable
    ]
    text = chance.choice(("", "", "one moment"))
    return AIMessage(text, tool_calls=calls, invalid_tool_calls=invalid, id=id)


def _text(chance: Random) -> str:
    """As the edges leave it: cleaned."""
    return chance.choice(LONG) if chance.random() < 0.05 else clean_text(any_text(chance))
