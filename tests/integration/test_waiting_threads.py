"""A customer's approvals are listed however many others wait (M11)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from graph.threads import MOST_WAITING, waiting_threads
from memory.checkpoints import CheckpointSaver
from tests.support.model_replies import tool_call
from tests.support.model_server import ModelServer, RoleQueues
from tests.support.tool_calls import tool
from tests.support.turns import talking
from tools.spec import Approval


async def pay_back(args: object, context: object) -> str:
    raise AssertionError("nobody has approved it")


REFUND = tool("refund", pay_back, effect="write", approval=Approval("staff", "It costs money."))


async def test_three_hundred_that_have_waited_for_longer_hide_nobody(
    database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("refund", {"x": 1}), tool_call("refund", {"x": 2}))
    async with talking(database_url, tmp_path, server, [REFUND]) as talk:
        other = replace(talk, user_id="user_12", thread_id=uuid4().hex)
        await other.say("refund it")
        saver = talk.agent.graph.checkpointer
        assert isinstance(saver, CheckpointSaver)
        for number in range(299):
            await saver.acopy_thread(other.thread_id, f"copy {number}")
        await talk.say("refund it")
        services = talk.agent.services
        own = await waiting_threads(services, user=talk.user_id)
        assert [(one["thread_id"], one["requests"][0]["args"]) for one in own] == [(talk.thread_id, {"x": 2})]
        theirs = await waiting_threads(services, user=other.user_id)
        assert len(theirs) == len(await waiting_threads(services)) == MOST_WAITING
        assert {one["user_id"] for one in theirs} == {other.user_id}
        for stranger in ("user_1_", "%", "USER_123"):
            assert await waiting_threads(services, user=stranger) == []


async def test_a_thread_whose_state_staff_have_changed_still_waits_for_its_customer(
    database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("refund", {"x": 1}))
    async with talking(database_url, tmp_path, server, [REFUND]) as talk:
        await talk.say("refund it")
        config = {**talk.config, "metadata": {"user_id": "boss"}}
        await talk.agent.graph.aupdate_state(config, {"handoff": None}, as_node="write_memory")
        await talk.agent.graph.ainvoke(None, talk.config)
        (own,) = await waiting_threads(talk.agent.services, user=talk.user_id)
        assert own["thread_id"] == talk.thread_id
        assert await waiting_threads(talk.agent.services, user="boss") == []
