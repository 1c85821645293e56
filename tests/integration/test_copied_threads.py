"""A copy of a thread goes on with what was waiting in the original, and nothing of it happens twice (T8, T9)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import pytest
from pydantic import Field

from memory.checkpoints import CheckpointSaver
from tests.support.model_replies import Reply, tool_call, tool_calls
from tests.support.model_server import ModelServer, RoleQueues
from tests.support.turns import Talk, envelopes, talking
from tools.declare import IDENTIFIER, ToolSpec, tool
from tools.spec import Approval

ran: Counter[str] = Counter()
APPROVE = {"type": "approve"}


@pytest.fixture(autouse=True)
def _fresh_count() -> None:
    ran.clear()


@tool(effect="write", approval=Approval("staff", "It costs money."))
async def refund(
    order: Annotated[str, IDENTIFIER, Field(description="Number of the order.")],
    amount: Annotated[int, Field(description="Amount in CNY.")],
) -> str:
    """Pay back."""
    ran[f"refund {order}"] += 1
    return f"refunded {amount}"


@tool(effect="write")
async def note(text: Annotated[str, Field(description="What to write down.")]) -> str:
    """Write down."""
    ran[f"note {text}"] += 1
    return "noted"


@tool(identifiers=["order"])
async def orders() -> dict[str, str]:
    """The customer's orders."""
    return {"order": "A-1"}


TOOLS: list[ToolSpec] = [refund, note, orders]
REFUND = {"order": "A-1", "amount": 3}


async def copied(talk: Talk) -> Talk:
    """The customer on a copy of the thread."""
    saver = talk.agent.graph.checkpointer
    assert isinstance(saver, CheckpointSaver)
    copy = replace(talk, thread_id=uuid4().hex)
    await saver.acopy_thread(talk.thread_id, copy.thread_id)
    return copy


@pytest.mark.parametrize(
    "second", [APPROVE, {"type": "edit", "edited_action": {"args": {**REFUND, "amount": 2}}}]
)
async def test_what_is_approved_in_both_is_done_once_and_told_in_both(
    second: dict[str, Any], module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("orders", {}), tool_calls(("refund", REFUND), ("note", {"text": "refund"})))
    script.add("chat", Reply("Refunded."), Reply("Refunded, too."))
    async with talking(module_database_url, tmp_path, server, TOOLS) as talk:
        await talk.say("refund my order")
        copy = await copied(talk)
        assert (await talk.decide(APPROVE, by="staff"))["answer"] == "Refunded."
        state = await copy.decide(second, by="staff")
        await copy.check_thread()
    assert state["answer"] == "Refunded, too."
    assert ran == {"refund A-1": 1, "note refund": 1}
    assert [told["data"] for told in envelopes(state)[1:]] == ["refunded 3", "noted"]


async def test_what_staff_approve_in_both_after_other_turns_is_done_once(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("refund", REFUND), *[Reply("Meanwhile.")] * 2, *[Reply("Refunded.")] * 2)
    async with talking(module_database_url, tmp_path, server, TOOLS) as talk:
        await talk.say("refund A-1")
        copy = await copied(talk)
        for each in (talk, copy):
            await each.say("and the weather?")
        for each in (talk, copy):
            assert (await each.decide(APPROVE, by="staff"))["answer"] == "Refunded."
            await each.check_thread()
    assert ran == {"refund A-1": 1}


async def test_a_copy_knows_what_was_looked_up_and_its_own_turns_are_its_own(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("orders", {}), Reply("You have one."))
    async with talking(module_database_url, tmp_path, server, TOOLS) as talk:
        await talk.say("what did I order?")
        copy = await copied(talk)
        for each in (talk, copy):
            script.add(
                "chat", tool_calls(("refund", REFUND), ("note", {"text": "refund"})), Reply("Refunded.")
            )
            await each.say("refund it")
            assert (await each.decide(APPROVE, by="staff"))["answer"] == "Refunded."
    assert ran == {"refund A-1": 2, "note refund": 2}


async def test_a_side_effect_that_was_running_when_the_thread_was_copied_is_in_doubt_in_the_copy(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("note", {"text": "x"}), Reply("Noted."), Reply("I cannot tell."))
    async with talking(module_database_url, tmp_path, server, TOOLS) as talk:
        await talk.say("note x")
        database = talk.agent.services.database
        before = [
            snapshot.config["configurable"]["checkpoint_id"]
            async for snapshot in talk.agent.graph.aget_state_history(talk.config)
            if snapshot.next == ("execute_tools",)
        ]
        here = {"thread": talk.thread_id, "checkpoint": before[0]}
        for statement in (
            "DELETE FROM checkpoints WHERE thread_id = %(thread)s AND checkpoint_id > %(checkpoint)s",
            "DELETE FROM checkpoint_writes WHERE thread_id = %(thread)s AND checkpoint_id >= %(checkpoint)s",
            "UPDATE tool_call SET status = 'running', result = NULL WHERE thread_id = %(thread)s",
        ):
            await database.execute(statement, here)
        copy = await copied(talk)
        state = await copy.say("well?")
        await copy.check_thread()
    assert state["answer"] == "I cannot tell."
    assert envelopes(state)[0]["error_kind"] == "in_doubt"
    assert ran == {"note x": 1}
