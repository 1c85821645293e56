"""What `steward resume` makes of its options."""

from __future__ import annotations

from typing import Any

import pytest

from graph.cli.resume import chosen, read_verdict
from graph.cli.running import BadUsage


def request(call_id: str, by: str) -> Any:
    return {"call_id": call_id, "name": "aftersale_create", "args": {}, "by": by, "reason": "above 500"}


def test_an_edit_carries_its_arguments() -> None:
    assert read_verdict("edit", '{"order_id": "A-1"}', None) == {"type": "edit", "args": {"order_id": "A-1"}}


def test_a_message_goes_with_any_decision() -> None:
    assert read_verdict("reject", None, "not ours") == {"type": "reject", "message": "not ours"}


@pytest.mark.parametrize(
    ("decision", "args", "message"),
    [
        ("edit", None, None),
        ("edit", "[1]", None),
        ("edit", "{oops", None),
        ("respond", None, None),
        ("approve", "{}", None),
    ],
)
def test_options_that_do_not_fit_are_refused(decision: str, args: str | None, message: str | None) -> None:
    with pytest.raises(BadUsage):
        read_verdict(decision, args, message)


def test_one_call_is_chosen_by_its_id_and_all_without_one() -> None:
    requests = [request("c1", "customer"), request("c2", "staff")]
    assert chosen(requests, "c1", as_staff=False) == requests[:1]
    assert chosen(requests, None, as_staff=True) == requests


def test_what_waits_for_staff_is_not_settled_by_a_customer() -> None:
    with pytest.raises(BadUsage, match="--as-staff"):
        chosen([request("c1", "staff")], None, as_staff=False)


def test_an_unknown_call_is_named_with_those_that_wait() -> None:
    with pytest.raises(BadUsage, match="c1"):
        chosen([request("c1", "customer")], "c9", as_staff=True)
