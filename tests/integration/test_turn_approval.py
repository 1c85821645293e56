"""Approvals through the whole graph (T9): nothing runs before all are settled, nothing runs twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from memory.errors import InvalidInput
from tests.support.model_replies import Reply, Request, tool_call, tool_calls
from tests.support.model_server import ModelServer, RoleQueues
from tests.support.tool_calls import tool
from tests.support.turns import Talk, envelopes, talking
from tools.spec import Approval, ToolSpec

ran: Counter[str] = Counter()


@pytest.fixture(autouse=True)
def _fresh_count() -> None:
    ran.clear()


def counted(name: str, **options: Any) -> ToolSpec:
    async def run(args: Any, context: Any) -> dict[str, Any]:
        ran[f"{name} {args.get('x')}"] += 1
        return {"done": args.get("x")}

    return tool(name, run, **options)


TOOLS = [
    counted("look"),
    counted("note", effect="write"),
    counted("cancel", effect="write", approval=Approval("customer", "It cannot be undone.")),
    counted("refund", effect="write", approval=Approval("staff", "It costs money.")),
]
APPROVE = {"type": "approve"}


async def test_one_interrupt_for_all_calls_and_nothing_runs_before_all_are_settled(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    calls = tool_calls(("note", {"x": 1}), ("cancel", {"x": 2}), ("refund", {"x": 3}), ("look", {"x": 4}))
    script.add("chat", calls, Reply("All done."))
    async with talking(module_database_url, tmp_path, server, TOOLS) as talk:
        await talk.say("do it all")
        (payload,) = await talk.interrupts()
        assert [request["name"] for request in payload["action_requests"]] == ["cancel", "refund"]
        assert not ran
        await talk.decide(APPROVE)  # the customer's own
        assert not ran
        state = await talk.decide(APPROVE, by="staff")
        await talk.check_thread()
    assert state["answer"] == "All done."
    assert ran == {"note 1": 1, "cancel 2": 1, "refund 3": 1, "look 4": 1}


@pytest.mark.parametrize(
    ("decision", "effects", "told"),
    [
        (
            {"type": "edit", "edited_action": {"name": "cancel", "args": {"x": 9}}},
            {"cancel 9": 1},
            {"status": "ok", "data": {"done": 9}},
        ),
        ({"type": "reject", "message": "not that one"}, {}, {"status": "error", "error_kind": "denied"}),
        ({"type": "respond", "message": "it is 7"}, {}, {"status": "ok"}),
    ],
)
async def test_a_person_may_edit_reject_or_respond(
    decision: dict[str, Any],
    effects: dict[str, int],
    told: dict[str, Any],
    module_database_url: str,
    tmp_path: Path,
    server: ModelServer,
    script: RoleQueues,
) -> None:
    script.add("chat", tool_call("cancel", {"x": 2}), Reply("Very well."))
    async with talking(module_database_url, tmp_path, server, TOOLS) as talk:
        await talk.say("cancel it")
        state = await talk.decide(decision)
        await talk.check_thread()
    assert state["answer"] == "Very well."
    assert ran == effects
    assert told.items() <= envelopes(state)[0].items()


async def test_a_decision_that_cannot_be_read_is_refused_and_can_be_given_again(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("cancel", {"x": 2}), Reply("Cancelled."))
    async with talking(module_database_url, tmp_path, server, TOOLS) as talk:
        await talk.say("cancel it")
        with pytest.raises(InvalidInput):
            await talk.decide({"type": "perhaps"})
        assert await talk.interrupts()
        state = await talk.decide(APPROVE)
    assert (state["answer"], ran) == ("Cancelled.", {"cancel 2": 1})


async def test_on_the_server_a_bad_decision_leaves_the_request_open_with_the_reason(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("cancel", {"x": 2}), Reply("Cancelled."))
    async with talking(module_database_url, tmp_path, server, TOOLS) as talk:
        await talk.say("cancel it")
        as_on_the_server = talk.agent.graph.copy({"asks_again": True})
        await as_on_the_server.ainvoke(Command(resume="sure"), talk.config)
        (payload,) = await talk.interrupts()
        assert "decisions" in payload["error"]
        state = await talk.decide(APPROVE)
    assert (state["answer"], ran) == ("Cancelled.", {"cancel 2": 1})


async def test_a_new_message_cancels_the_customers_approval(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("cancel", {"x": 2}), Reply("Then I leave it."))
    async with talking(module_database_url, tmp_path, server, TOOLS) as talk:
        await talk.say("cancel it")
        state = await talk.say("no, wait")
        assert state["answer"] == "Then I leave it."
        assert not await talk.interrupts()
        await talk.check_thread()
    assert not ran
    assert envelopes(state)[0]["error_kind"] == "cancelled"


def told_of_the_decision(request: Request) -> Reply:
    assert "A colleague has just decided" in request["messages"][-1]["content"]
    return Reply("Your refund is through.")


@pytest.mark.parametrize("between", [["and the weather?"], ["   "], ["one", "", "three"]])
async def test_staff_may_decide_after_other_turns_and_the_customer_is_told(
    between: list[str], module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("refund", {"x": 3}))
    script.add("chat", *[Reply("Meanwhile.")] * sum(bool(text.strip()) for text in between))
    script.add("chat", told_of_the_decision, Reply("You are welcome."))
    async with talking(module_database_url, tmp_path, server, TOOLS) as talk:
        await talk.say("refund it")
        for text in between:
            assert (await talk.say(text))["answer"]
            assert await talk.interrupts()
            assert not ran
        state = await talk.decide(APPROVE, by="staff")
        assert state["answer"] == "Your refund is through."
        assert ran == {"refund 3": 1}
        assert not await talk.interrupts()
        await talk.check_thread()
        assert (await talk.say("thanks"))["answer"] == "You are welcome."
    assert ran == {"refund 3": 1}


async def test_a_late_decision_is_served_after_a_turn_that_a_limit_ended(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("refund", {"x": 3}), tool_call("look", {"x": 1}), Reply("Too far."))
    script.add("chat", told_of_the_decision)
    async with talking(module_database_url, tmp_path, server, TOOLS, steward_max_model_calls=1) as talk:
        await talk.say("refund it")
        assert (await talk.say("look"))["stopped_because"] == "model_calls"
        state = await talk.decide(APPROVE, by="staff")
    assert (state["answer"], ran["refund 3"]) == ("Your refund is through.", 1)


async def test_a_fork_replays_a_recorded_side_effect_without_running_it_again(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("note", {"x": 1}), Reply("Noted."), Reply("Noted, as I said."))
    async with talking(module_database_url, tmp_path, server, TOOLS) as talk:
        await talk.say("note it")
        history = [snapshot async for snapshot in talk.agent.graph.aget_state_history(talk.config)]
        before = next(snapshot for snapshot in history if snapshot.next == ("execute_tools",))
        fork = await talk.agent.graph.aupdate_state(before.config, {"draft": None}, as_node="call_model")
        fork["configurable"]["thread_id"] = talk.thread_id
        state = await talk.agent.graph.ainvoke(None, fork)
        await talk.check_thread()
    assert (state["answer"], ran) == ("Noted, as I said.", {"note 1": 1})
    assert envelopes(state) == [{"status": "ok", "data": {"done": 1}}]


async def test_a_fork_from_where_an_approval_waited_does_not_run_it_again(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("refund", {"x": 3}), Reply("Refunded."), Reply("Refunded, as I said."))
    async with talking(module_database_url, tmp_path, server, TOOLS) as talk:
        await talk.say("refund it")
        waiting = (await talk.agent.graph.aget_state(talk.config)).config
        assert (await talk.decide(APPROVE, by="staff"))["answer"] == "Refunded."
        fork = await talk.agent.graph.aupdate_state(waiting, {"draft": None}, as_node="execute_tools")
        fork["configurable"]["thread_id"] = talk.thread_id
        asked_again = await talk.agent.graph.ainvoke(None, fork)
        assert asked_again["__interrupt__"]
        state = await talk.decide(APPROVE, by="staff")
        await talk.check_thread()
    assert (state["answer"], ran) == ("Refunded, as I said.", {"refund 3": 1})


async def test_customer_and_staff_wait_on_one_message_and_a_new_one_leaves_the_staffs_open(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_calls(("cancel", {"x": 2}), ("refund", {"x": 3})), Reply("Never mind then."))
    script.add("chat", told_of_the_decision)
    async with talking(module_database_url, tmp_path, server, TOOLS) as talk:
        await talk.say("cancel it and refund it")
        assert (await talk.say("wait"))["answer"] == "Never mind then."
        (payload,) = await talk.interrupts()
        assert [request["name"] for request in payload["action_requests"]] == ["refund"]
        state = await talk.decide(APPROVE, by="staff")
        await talk.check_thread()
    assert (state["answer"], ran) == ("Your refund is through.", {"refund 3": 1})


async def forget_what_followed(talk: Talk, waiting: str) -> None:
    """Leave the thread as a run leaves it that was killed before it had stored anything after that checkpoint."""
    for statement in (
        "DELETE FROM checkpoints WHERE thread_id = %s AND checkpoint_id > %s",
        "DELETE FROM checkpoint_writes WHERE thread_id = %s AND checkpoint_id >= %s AND channel = '__resume__'",
    ):
        await talk.agent.services.database.execute(statement, (talk.thread_id, waiting))


@pytest.mark.parametrize("between", [[], ["and the weather?"]])
async def test_a_decision_that_died_with_its_run_is_not_asked_for_again_once_its_call_has_begun(
    between: list[str], module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    def knows(request: Request) -> Reply:
        assert '"done":3' in "".join(str(m["content"]) for m in request["messages"] if m["role"] == "tool")
        return Reply("It is refunded.")

    script.add("chat", tool_call("refund", {"x": 3}), *[Reply("Meanwhile.")] * len(between))
    script.add("chat", Reply("Refunded."), knows)
    async with talking(module_database_url, tmp_path, server, TOOLS) as talk:
        await talk.say("refund it")
        for text in between:
            await talk.say(text)
        waiting = (await talk.agent.graph.aget_state(talk.config)).config["configurable"]["checkpoint_id"]
        await talk.decide(APPROVE, by="staff")
        await forget_what_followed(talk, waiting)
        assert (await talk.say("well?"))["answer"] == "It is refunded."
        assert not await talk.interrupts()
        await talk.check_thread()
    assert ran == {"refund 3": 1}
