"""The context is valid, bounded and stable, whatever the conversation looks like."""

from __future__ import annotations

import itertools
import math

from hypothesis import given, note, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from nodes.context_groups import turn_groups, with_block
from nodes.context_plan import OVERHEAD, Parts, message_text, plan_context
from nodes.context_render import render_context
from nodes.shortening import STUB_TOKENS
from nodes.state import ContextPlan
from tests.support.histories import histories
from tests.support.protocol import check_protocol

SYSTEM = "You are helpful."


def count(text: str) -> int:
    return math.ceil(len(text) / 2)


def cut(text: str, tokens: int) -> str:
    return text[: tokens * 2 - 4] + " […]" if count(text) > tokens else text


def parts(messages: list[AnyMessage], **kwargs: object) -> Parts:
    values = {
        "system": SYSTEM,
        "schemas": "[]",
        "tools": ["look"],
        "summary": "",
        "background": "<background/>",
    }
    return Parts(turns=turn_groups(messages), **{**values, **kwargs})  # type: ignore[arg-type]


def planned(
    messages: list[AnyMessage], budget: int, **kwargs: object
) -> tuple[ContextPlan, list[AnyMessage]]:
    plan = plan_context(parts(messages, **kwargs), budget=budget, count=count)
    return plan, render_context(plan, SYSTEM, messages, cut)


@settings(max_examples=300, deadline=None)
@given(histories(), st.integers(300, 6000))
def test_any_history_becomes_a_valid_request(messages: list[AnyMessage], budget: int) -> None:
    _, sent = planned(messages, budget)
    check_protocol(sent)


@settings(max_examples=300, deadline=None)
@given(histories(), st.integers(1500, 6000))
def test_what_is_sent_stays_within_the_budget(messages: list[AnyMessage], budget: int) -> None:
    _, sent = planned(messages, budget)
    size = sum(count(message_text(message)) + OVERHEAD for message in sent)
    floor = (STUB_TOKENS + 40) * len(turn_groups(messages)[-1].messages) + 100
    note([(m.type, count(message_text(m))) for m in messages])
    note([(m.type, count(message_text(m))) for m in sent])
    assert size <= max(budget, floor)


@settings(max_examples=200, deadline=None)
@given(histories(), st.integers(3500, 9000))
def test_the_customers_latest_message_is_there(messages: list[AnyMessage], budget: int) -> None:
    last = next(m for m in reversed(messages) if isinstance(m, HumanMessage))
    _, sent = planned(messages, budget)
    latest = [m for m in sent if isinstance(m, HumanMessage)][-1]
    assert last.text in latest.text or "[…]" in latest.text


@settings(max_examples=200, deadline=None)
@given(histories(), st.integers(1500, 6000), st.data())
def test_summaries_and_kept_backgrounds_leave_it_valid_and_within_the_budget(
    messages: list[AnyMessage], budget: int, data: st.DataObject
) -> None:
    blocks = st.sampled_from(
        ["", "<background>\n订单\n</background>", "<background>\n🙂 order\n</background>"]
    )
    messages = [with_block(m, data.draw(blocks)) if isinstance(m, HumanMessage) else m for m in messages]
    folded = data.draw(st.sampled_from([None, "not-here", *(m.id for m in messages)]))
    start = data.draw(st.sampled_from([None, "not-here", *(m.id for m in messages)]))
    summary = "<conversation_summary>\n退货 👩‍👩‍👧‍👦\n</conversation_summary>"
    plan, sent = planned(messages, budget, summary=summary, folded_until=folded, history_start=start)
    check_protocol(sent)
    size = sum(count(message_text(message)) + OVERHEAD for message in sent)
    floor = (STUB_TOKENS + 40) * len(turn_groups(messages)[-1].messages) + 200
    assert size <= max(budget, floor)
    again = plan_context(
        parts(
            messages,
            summary=summary,
            folded_until=folded,
            history_start=plan["first_message_id"],
            shortened=plan["shortened"],
        ),
        budget=budget,
        count=count,
    )
    assert render_context(again, SYSTEM, messages, cut) == sent, "the same again, to the letter"


def conversation(turns: int, size: int = 200) -> list[AnyMessage]:
    messages: list[AnyMessage] = []
    for n in range(turns):
        messages.append(HumanMessage(f"{n} " + "q" * size, id=f"h{n}"))
        messages.append(AIMessage(f"{n} " + "a" * size, id=f"a{n}"))
    return messages


def test_history_begins_at_the_same_message_until_its_budget_is_exceeded() -> None:
    start: str | None = None
    starts = []
    for turns in range(1, 60):
        messages = [*conversation(turns), HumanMessage("now", id=f"h{turns}")]
        plan, _ = planned(messages, 4000, history_start=start)
        start = plan["first_message_id"]
        starts.append(start)
    changes = sum(1 for before, after in itertools.pairwise(starts) if before != after)
    assert 1 <= changes <= 12, "history jumps seldom, so that the provider's prompt cache keeps hitting"


def test_within_a_turn_nothing_that_was_sent_changes() -> None:
    messages: list[AnyMessage] = [*conversation(3), HumanMessage("find it", id="now")]
    plan, before = planned(messages, 8000)
    for step in range(6):
        call = {"name": "look", "args": {"n": step}, "id": f"c{step}"}
        messages += [
            AIMessage("", tool_calls=[call], id=f"s{step}"),  # type: ignore[list-item]
            ToolMessage("r" * 300, tool_call_id=f"c{step}", id=f"r{step}"),
        ]
        plan, after = planned(
            messages, 8000, history_start=plan["first_message_id"], shortened=plan["shortened"]
        )
        assert after[: len(before)] == before
        before = after


def test_a_long_chain_of_results_is_bounded_and_keeps_the_newest() -> None:
    messages: list[AnyMessage] = [HumanMessage("find it", id="now")]
    for step in range(40):
        call = {"name": "look", "args": {"n": step}, "id": f"c{step}"}
        messages += [
            AIMessage("", tool_calls=[call], id=f"s{step}"),  # type: ignore[list-item]
            ToolMessage("r" * 800, tool_call_id=f"c{step}", id=f"r{step}"),
        ]
    plan, sent = planned(messages, 6000)
    assert sent[-1].text == "r" * 800
    assert sum(count(message_text(m)) + OVERHEAD for m in sent) <= 6000
    assert any("shortened" in note for note in plan["cut"])


def test_what_the_summary_covers_is_not_sent_again() -> None:
    messages = [*conversation(5), HumanMessage("now", id="now")]
    plan, sent = planned(messages, 8000, summary="<conversation_summary/>", folded_until="a2")
    assert plan["first_message_id"] == "h3"
    assert sent[1].text.startswith("<conversation_summary/>")
    assert "<background/>" in sent[-1].text


def test_a_summary_of_another_branch_cuts_nothing() -> None:
    messages = [*conversation(3), HumanMessage("now", id="now")]
    plan, _ = planned(messages, 8000, folded_until="not-in-this-thread")
    assert plan["first_message_id"] == "h0"


def test_a_message_larger_than_the_budget_is_shortened_with_a_note() -> None:
    messages: list[AnyMessage] = [HumanMessage("q" * 20_000, id="now")]
    plan, sent = planned(messages, 2000)
    assert "[…]" in sent[-1].text
    assert any("shortened" in note for note in plan["cut"])


def test_the_classes_add_up_to_what_is_sent() -> None:
    messages = [*conversation(3), HumanMessage("now", id="now")]
    plan, sent = planned(messages, 8000)
    whole = sum(count(message_text(m)) + OVERHEAD for m in sent) + count("[]")
    assert abs(sum(plan["tokens"].values()) - whole) <= 30
