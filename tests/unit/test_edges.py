"""Where the flow goes, as a table."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from graph import edges

HUMAN = HumanMessage("hi", id="h")
CALL = AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": "c"}], id="a")
BROKEN = AIMessage("", invalid_tool_calls=[{"name": "t", "args": "{", "id": "c", "error": "cut off"}], id="a")
PENDING = {"id": "c", "name": "t", "args": {}, "status": "pending", "error_kind": None, "attempts": 0}
REQUEST = {"call_id": "c", "name": "t", "args": {}, "by": "customer", "reason": ""}


@pytest.mark.parametrize(
    ("decide", "state", "path"),
    [
        (edges.at_the_start, {"handoff": {"since": ""}}, ["what is asked"]),
        (edges.at_the_start, {"handoff": None}, ["what is asked", "what is known"]),
        (edges.after_route, {"handoff": {"since": ""}}, "with staff"),
        (edges.after_route, {"handoff": {"since": ""}, "approvals": [REQUEST]}, "waiting for staff"),
        (edges.after_route, {"answer": None}, "routed"),
        (edges.after_assembly, {"answer": "I did not receive any text."}, "answered"),
        (edges.after_assembly, {"route": {"ask": True}}, "unsure"),
        (edges.after_assembly, {"route": {"ask": False}}, "ready"),
        (edges.after_model, {"messages": [HUMAN, CALL]}, "tools"),
        (edges.after_model, {"messages": [HUMAN, BROKEN]}, "tools"),
        (edges.after_model, {"messages": [HUMAN], "draft": AIMessage("draft")}, "review"),
        (edges.after_model, {"messages": [HUMAN, AIMessage("ok")], "answer": "ok"}, "answer"),
        (edges.after_model, {"messages": [HUMAN], "answer": None}, "too long"),
        (edges.after_tools, {"approvals": [REQUEST], "tool_calls": [PENDING]}, "approval"),
        (edges.after_tools, {"approvals": [REQUEST], "tool_calls": [], "retry": None}, "results"),
        (edges.after_tools, {"approvals": [], "retry": {"attempts": {"c": 1}}}, "retry"),
        (edges.after_tools, {"approvals": [], "retry": None}, "results"),
        (edges.after_tools, {"handoff": {"since": ""}, "answer": None}, "results"),
        (edges.after_tools, {"handoff": {"since": ""}, "answer": ""}, "with staff"),
        (edges.after_approval, {"approvals": [REQUEST]}, "undecided"),
        (edges.after_approval, {"approvals": []}, "settled"),
        (edges.after_review, {"review": {"done": False}}, "another round"),
        (edges.after_review, {"review": {"done": True}}, "final"),
        (edges.after_memory, {"approvals": [REQUEST]}, "waiting for staff"),
        (edges.after_memory, {"approvals": []}, "done"),
    ],
)
def test_each_edge_takes_the_path_that_the_state_asks_for(decide: Any, state: Any, path: Any) -> None:
    assert decide(state) == path
