"""Which turns are handed to the summariser, and when."""

from __future__ import annotations

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from nodes.context_groups import turn_groups
from nodes.context_plan import Parts, plan_context
from nodes.folding import is_fold_due, turns_to_fold
from nodes.state import ContextPlan


def conversation(turns: int) -> list[AnyMessage]:
    messages: list[AnyMessage] = []
    for n in range(turns):
        call = {"name": "look", "args": {}, "id": f"c{n}"}
        messages += [
            HumanMessage(f"question {n} " + "q" * 190, id=f"h{n}"),
            AIMessage("", tool_calls=[call], id=f"t{n}"),  # type: ignore[list-item]
            ToolMessage("{}", tool_call_id=f"c{n}", id=f"r{n}"),
            AIMessage(f"answer {n} " + "a" * 190, id=f"a{n}"),
        ]
    return messages


def plan(messages: list[AnyMessage], **kwargs: object) -> ContextPlan:
    parts = Parts(
        system="", schemas="", tools=[], summary="", background="", turns=turn_groups(messages), **kwargs
    )  # type: ignore[arg-type]
    return plan_context(parts, budget=3000, count=lambda text: len(text) // 2)


def test_a_short_session_is_left_alone() -> None:
    messages = conversation(3)
    assert not is_fold_due(plan(messages))


def test_the_oldest_half_is_folded_before_anything_has_to_be_left_out() -> None:
    messages = conversation(11)
    current = plan(messages)
    assert current["first_message_id"] == "h0", "nothing is left out yet"
    assert is_fold_due(current)
    fold = turns_to_fold(current, messages, None)
    assert fold is not None
    assert fold.until == "a3"
    assert [line[0] for line in fold.messages] == ["customer", "tool", "agent"] * 4
    assert fold.messages[0][1].startswith("question 0")


def test_what_the_summary_covers_is_not_folded_again() -> None:
    messages = conversation(14)
    fold = turns_to_fold(plan(messages, folded_until="a2"), messages, "a2")
    assert fold is not None
    assert fold.messages[0][1].startswith("question 3")


def test_turns_that_were_left_out_are_folded_too() -> None:
    messages = conversation(16)
    current = plan(messages)
    assert current["first_message_id"] != "h0"
    current["earlier"]["next"] = current["earlier"]["limit"]
    fold = turns_to_fold(current, messages, None)
    assert fold is not None
    assert fold.messages[0][1].startswith("question 0")


def test_the_summariser_is_told_the_figures_of_results() -> None:
    messages = conversation(11)
    call = {"name": "order_query", "args": {"order_id": "A-17"}, "id": "c0"}
    messages[1] = AIMessage("", tool_calls=[call], id="t0")  # type: ignore[list-item]
    messages[2] = ToolMessage(
        '{"status": "ok", "data": {"item": "1151293680", "paid": 272.33}}', tool_call_id="c0", id="r0"
    )
    fold = turns_to_fold(plan(messages), messages, None)
    assert fold is not None
    assert fold.messages[1] == ("tool", 'order_query {"order_id": "A-17"}: 1151293680, 272.33')


def test_the_running_turn_is_never_folded() -> None:
    messages = conversation(12)
    fold = turns_to_fold(plan(messages), messages, None)
    assert fold is None or fold.until != "a11"
