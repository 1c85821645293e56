"""A thread that was handed over: silent for the agent, open for the colleague, and handed back (O7)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage

from tests.support.model_replies import Reply, Request, tool_call
from tests.support.model_server import ModelServer, RoleQueues
from tests.support.tool_calls import returning, tool
from tests.support.turns import talking
from tools.spec import Approval, ToolReply

REFUND = Approval("staff", "It costs money.")
HANDOVER = ToolReply(
    {"handed_over": True}, {"handoff": {"reason": "asked for a person", "summary": "a broken cup"}}
)


async def test_the_agent_is_silent_until_the_thread_is_handed_back(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    def knows_the_colleague(request: Request) -> Reply:
        said = [m["content"] for m in request["messages"] if m["role"] == "assistant"]
        assert "I have sent you a new cup." in said
        return Reply("You are welcome!")

    script.add("chat", tool_call("handoff", {"x": 1}), Reply("A colleague takes over."), knows_the_colleague)
    tools = [tool("handoff", returning(HANDOVER))]
    async with talking(module_database_url, tmp_path, server, tools) as talk:
        state = await talk.say("I want a person")
        assert state["answer"] == "A colleague takes over."
        packet = state["handoff"]["packet"]
        assert (packet["summary"], packet["request"]) == ("a broken cup", "I want a person")
        assert [call["name"] for call in packet["tool_calls"]] == ["handoff"]

        state = await talk.say("are you there?")
        assert state["answer"] == ""
        assert state["messages"][-1].text == "are you there?"
        state = await talk.say("I have sent you a new cup.", role="staff")
        assert isinstance(state["messages"][-1], AIMessage)
        assert state["messages"][-1].name == "staff"
        assert len(server.requests_of("chat")) == 2

        await talk.agent.graph.aupdate_state(talk.config, {"handoff": None})
        state = await talk.say("thank you")
        assert state["answer"] == "You are welcome!"
        await talk.check_thread()


async def test_an_approval_that_waits_stays_open_while_staff_talk_and_its_outcome_is_theirs_to_tell(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("refund", {"x": 1}), tool_call("handoff", {"x": 1}), Reply("A colleague."))
    ran: list[object] = []

    async def refund(args: Any, context: Any) -> str:
        ran.append(args)
        return "refunded"

    tools = [
        tool("handoff", returning(HANDOVER)),
        tool("refund", refund, effect="write", approval=REFUND),
    ]
    async with talking(module_database_url, tmp_path, server, tools) as talk:
        await talk.say("refund it")
        assert (await talk.say("a person please"))["answer"] == "A colleague."
        for words, role in (("hello?", "customer"), ("One moment.", "staff"), ("thanks", "customer")):
            assert (await talk.say(words, role=role))["answer"] == ""
            assert len(await talk.interrupts()) == 1, words
        requests = len(server.requests)
        state = await talk.decide({"type": "approve"}, by="staff")
        assert (state["answer"], len(ran), len(server.requests)) == ("", 1, requests)
        assert "refunded" in state["messages"][-1].text
        assert not await talk.interrupts()
        await talk.check_thread()

        script.add("chat", Reply("Your refund is through."))
        await talk.agent.graph.aupdate_state(talk.config, {"handoff": None}, as_node="write_memory")
        assert (await talk.say("and my money?"))["answer"] == "Your refund is through."
        await talk.check_thread()


async def test_a_thread_that_is_taken_by_hand_while_a_call_waits_stays_valid(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("refund", {"x": 1}), Reply("Back again."))
    tools = [tool("refund", returning("refunded"), effect="write", approval=REFUND)]
    by_hand = {"since": "2024-05-27T00:00:00Z", "reason": "by hand", "packet": {}}
    async with talking(module_database_url, tmp_path, server, tools) as talk:
        await talk.say("refund it")
        await talk.agent.graph.aupdate_state(talk.config, {"handoff": by_hand}, as_node="write_memory")
        await talk.say("hello?")
        assert len(await talk.interrupts()) == 1
        await talk.decide({"type": "reject", "message": "not yet"}, by="staff")
        await talk.check_thread()
        await talk.agent.graph.aupdate_state(talk.config, {"handoff": None}, as_node="write_memory")
        assert (await talk.say("hello?"))["answer"] == "Back again."
        await talk.check_thread()
