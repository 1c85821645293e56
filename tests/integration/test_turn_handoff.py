"""A thread that was handed over: silent for the agent, open for the colleague, and handed back (O7)."""

from __future__ import annotations

from pathlib import Path

from langchain_core.messages import AIMessage

from tests.support.model_replies import Reply, Request, tool_call
from tests.support.model_server import ModelServer, RoleQueues
from tests.support.tool_calls import returning, tool
from tests.support.turns import talking
from tools.spec import ToolReply

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
