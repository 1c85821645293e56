"""Approvals in the form that human-in-the-loop clients know, and who may settle them."""

from __future__ import annotations

from typing import Any

import pytest

from memory.errors import InvalidInput
from tools.approval import ApprovalRequest, payload, read_decisions


def request(call_id: str, by: str = "customer", name: str = "refund") -> ApprovalRequest:
    return {"call_id": call_id, "name": name, "args": {"amount": 700}, "by": by, "reason": "Above 500."}  # type: ignore[typeddict-item]


def test_the_payload_is_the_one_of_human_in_the_loop_clients() -> None:
    assert payload([request("c1")]) == {
        "action_requests": [{"name": "refund", "args": {"amount": 700}, "description": "Above 500."}],
        "review_configs": [
            {"action_name": "refund", "allowed_decisions": ["approve", "edit", "reject", "respond"]}
        ],
    }


@pytest.mark.parametrize(
    "answer",
    [
        {"decisions": [{"type": "approve"}]},
        [{"type": "approve"}],
        {"type": "approve"},
        {"decisions": {"c1": {"type": "approve"}}},
        {"c1": {"type": "approve"}},
    ],
)
def test_one_decision_is_read_in_every_form(answer: Any) -> None:
    assert read_decisions(answer, [request("c1")]) == {"c1": {"type": "approve", "by": "customer"}}


def test_decisions_belong_to_the_requests_in_order() -> None:
    answer = {"decisions": [{"type": "reject", "message": "too much"}, {"type": "approve"}]}
    assert read_decisions(answer, [request("c1"), request("c2")]) == {
        "c1": {"type": "reject", "message": "too much", "by": "customer"},
        "c2": {"type": "approve", "by": "customer"},
    }


def test_an_edit_brings_all_arguments() -> None:
    answer = {"type": "edit", "edited_action": {"name": "refund", "args": {"amount": 400}}}
    assert read_decisions(answer, [request("c1")], by="staff")["c1"]["args"] == {"amount": 400}


def test_an_edit_cannot_call_another_tool() -> None:
    answer = {"type": "edit", "edited_action": {"name": "delete_user", "args": {}}}
    with pytest.raises(InvalidInput, match="delete_user"):
        read_decisions(answer, [request("c1")])


def test_a_customer_cannot_settle_what_waits_for_staff() -> None:
    requests = [request("c1"), request("c2", by="staff")]
    both = {"decisions": [{"type": "approve"}, {"type": "approve"}]}
    assert set(read_decisions(both, requests, by="customer")) == {"c1"}
    assert set(read_decisions({"type": "approve"}, requests, by="customer")) == {"c1"}
    assert set(read_decisions(both, requests, by="staff")) == {"c1", "c2"}


def test_staff_may_settle_one_call_by_its_id_and_leave_the_other_open() -> None:
    requests = [request("c1", by="staff"), request("c2", by="staff")]
    assert set(read_decisions({"c2": {"type": "reject"}}, requests, by="staff")) == {"c2"}


@pytest.mark.parametrize(
    "answer",
    [
        {"decisions": [{"type": "approve"}]},
        {"decisions": []},
        {"decisions": [{"type": "approve"}, {"type": "shrug"}]},
        {"decisions": [{"type": "approve"}, {"type": "respond"}]},
        {"decisions": [{"type": "approve"}, {"type": "edit"}]},
        {"decisions": [{"type": "approve"}, {"type": "reject", "message": 5}]},
        {"decisions": {"c9": {"type": "approve"}}},
        {"decisions": [{"type": "approve"}, "approve"]},
        "approve",
        None,
        True,
        7,
    ],
)
def test_an_answer_that_does_not_settle_the_requests_is_refused_with_the_reason(answer: Any) -> None:
    with pytest.raises(InvalidInput):
        read_decisions(answer, [request("c1"), request("c2")])
