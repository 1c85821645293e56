"""The object that `chat --json` prints is an interface: its keys and values are the contract's."""

from __future__ import annotations

import json
from typing import Any

from langgraph.types import Interrupt, StateSnapshot

from graph.outcome import turn_outcome

KEYS = [
    "thread_id",
    "answer",
    "clarification",
    "intents",
    "tool_calls",
    "memories",
    "stopped_because",
    "interrupt",
    "usage",
]


def snapshot(values: dict[str, Any], *interrupts: Any) -> StateSnapshot:
    waiting = tuple(Interrupt(value=value, id="1") for value in interrupts)
    return StateSnapshot(values, (), {"configurable": {}}, None, None, None, (), waiting)


def test_an_empty_thread_has_every_key_and_no_content() -> None:
    outcome = turn_outcome("t1", snapshot({}))
    assert list(outcome) == KEYS
    assert outcome["answer"] == ""
    assert set(outcome["usage"]["by_class"]) == {"instructions", "memory", "tools", "history", "output"}
    assert set(outcome["usage"]["by_role"]) == {
        "chat",
        "router",
        "reviewer",
        "extractor",
        "summariser",
        "compactor",
    }


def test_tool_calls_and_memories_carry_the_keys_of_the_contract_alone() -> None:
    values = {
        "answer": "done",
        "tool_calls": [
            {
                "id": "c1",
                "name": "order_query",
                "args": {"order_id": "A"},
                "status": "ok",
                "error_kind": None,
                "attempts": 2,
            }
        ],
        "recalled": [{"key": "k", "content": "c", "score": 0.4, "domains": ["order"], "updated_at": "2026"}],
    }
    outcome = turn_outcome("t1", snapshot(values))
    assert outcome["tool_calls"] == [
        {"id": "c1", "name": "order_query", "args": {"order_id": "A"}, "status": "ok", "error_kind": None}
    ]
    assert outcome["memories"] == [{"key": "k", "content": "c", "score": 0.4}]
    json.dumps(outcome)


def test_a_question_of_this_turn_is_shown_and_one_of_an_earlier_turn_is_not() -> None:
    asked = {"question": "Which?", "intents": ["order", "logistics"], "request": "where"}
    route = {
        "intents": [],
        "tools": [],
        "review": False,
        "why": "",
        "likely": [],
        "ask": True,
        "guess": False,
    }
    outcome = turn_outcome("t1", snapshot({"clarification": asked, "route": route}))
    assert outcome["clarification"] == {"question": "Which?", "intents": ["order", "logistics"]}
    assert turn_outcome("t1", snapshot({"clarification": asked, "route": None}))["clarification"] is None


def test_the_answer_to_a_question_counts_as_a_follow_up() -> None:
    intents = [{"name": "order", "confidence": 1.0, "source": "clarified"}]
    route = {
        "intents": intents,
        "tools": [],
        "review": False,
        "why": "",
        "likely": [],
        "ask": False,
        "guess": False,
    }
    assert turn_outcome("t1", snapshot({"route": route}))["intents"] == [
        {"name": "order", "confidence": 1.0, "source": "follow_up"}
    ]


def test_an_interrupt_is_shown_as_its_payload() -> None:
    payload = {"action_requests": [], "review_configs": []}
    assert turn_outcome("t1", snapshot({}, payload))["interrupt"] == payload
