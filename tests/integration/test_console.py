"""What the operator's page reads: the list, a conversation, and a turn's way with all that happened on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graph.server.console.conversation import read_conversation
from graph.server.console.listing import PAGE, handed_over, latest_conversations
from graph.server.console.turn import read_turn
from tests.support.model_replies import Reply, tool_call
from tests.support.model_server import ModelServer, RoleQueues
from tests.support.tool_calls import returning, tool
from tests.support.turns import Talk, talking
from tools.spec import Approval, ToolReply

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> 100% a_b"
HANDOVER = ToolReply({"handed_over": True}, {"handoff": {"reason": "asked for a person", "summary": HOSTILE}})
TOOLS = [
    tool("look", returning({"found": HOSTILE})),
    tool("refund", returning({"done": True}), effect="write", approval=Approval("staff", "It costs money.")),
    tool("handoff", returning(HANDOVER)),
]


async def turn_of(talk: Talk, turn_id: str) -> dict[str, Any]:
    found = await read_turn(talk.agent.services, talk.agent.graph, talk.thread_id, turn_id)
    assert found is not None
    json.dumps(found)
    return found


def nodes(turn: dict[str, Any]) -> list[str]:
    return [name for step in turn["way"]["steps"] for name in sorted(step["nodes"])]


async def test_a_turn_shows_its_way_its_calls_and_what_it_cost_also_when_others_have_followed(
    database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("look", {"x": 1}), Reply("Found."), Reply("You are welcome."), Reply("Bye."))
    async with talking(database_url, tmp_path, server, TOOLS) as talk:
        first = (await talk.say(HOSTILE))["turn"]["id"]
        await talk.say("thanks")
        last = (await talk.say("bye"))["turn"]["id"]
        turn = await turn_of(talk, first)
        assert nodes(turn) == [
            "recall_memory",
            "route",
            "assemble_context",
            "call_model",
            "execute_tools",
            "assemble_context",
            "call_model",
            "write_memory",
        ]
        assert ("execute_tools", "assemble_context") in [tuple(edge) for edge in turn["way"]["taken"]]
        assert turn["way"]["taken"][-1] == ["write_memory", "__end__"]
        assert turn["turn"]["request"] == HOSTILE
        (call,) = turn["tool_calls"]
        assert (call["name"], call["status"], json.loads(call["result"])) == (
            "look",
            "ok",
            {"found": HOSTILE},
        )
        assert [call["role"] for call in turn["model_calls"]] == ["chat", "chat"]
        assert nodes(await turn_of(talk, last))[-1] == "write_memory"
        assert await read_turn(talk.agent.services, talk.agent.graph, talk.thread_id, "turn-x") is None
        said = await read_conversation(talk.agent.services, talk.agent.graph, talk.thread_id)
        assert said is not None
        assert [line["by"] for line in said["messages"]] == [
            *("customer", "agent", "tool", "agent"),
            *("customer", "agent"),
            *("customer", "agent"),
        ]
        assert said["turns"][first]["tokens"] > 0
        assert await read_conversation(talk.agent.services, talk.agent.graph, "nobody") is None


async def test_an_approval_is_seen_to_wait_and_then_to_be_settled(
    database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("refund", {"x": 1}), Reply("Paid back."))
    async with talking(database_url, tmp_path, server, TOOLS) as talk:
        turn_id = (await talk.say("pay me back"))["turn"]["id"]
        (line,) = await latest_conversations(talk.agent.services, "", None)
        assert (line["user_id"], line["waits"]) == ("user_123", 1)
        waits = (await turn_of(talk, turn_id))["way"]["steps"][-1]
        assert (waits["nodes"], waits["asked"], waits["seconds"]) == (["request_approval"], True, None)
        await talk.decide({"type": "approve"}, by="staff")
        turn = await turn_of(talk, turn_id)
        assert nodes(turn)[nodes(turn).index("request_approval") + 1] == "execute_tools"
        assert turn["way"]["steps"][-1]["seconds"] is not None
        (line,) = await latest_conversations(talk.agent.services, "", None)
        assert (line["waits"], line["answer"]) == (0, "Paid back.")


async def test_conversations_with_a_person_are_listed_until_they_are_handed_back(
    database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("handoff", {"x": 1}), Reply("A colleague takes over."), Reply("Hello."))
    async with talking(database_url, tmp_path, server, TOOLS, steward_encryption_key="k" * 32) as talk:
        await talk.say("I want a person")
        await talk.say("are you there?")
        await talk.say("I am.", role="staff")
        await Talk(talk.agent).say("another thread")
        (line,) = await handed_over(talk.agent.services)
        assert line["thread_id"] == talk.thread_id
        assert line["handoff"] is not None
        assert line["handoff"]["packet"]["summary"] == HOSTILE
        said = await read_conversation(talk.agent.services, talk.agent.graph, talk.thread_id)
        assert said is not None
        assert [one["by"] for one in said["messages"][-2:]] == ["customer", "staff"]
        await talk.agent.graph.aupdate_state(talk.config, {"handoff": None}, as_node="write_memory")
        assert await handed_over(talk.agent.services) == []


async def test_the_list_goes_on_where_it_ended_and_finds_words_literally(
    database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", *[Reply("Yes.")] * (PAGE + 4))
    async with talking(database_url, tmp_path, server, TOOLS) as talk:
        services = talk.agent.services
        talks = [Talk(talk.agent, user_id=f"user_{number}%") for number in range(PAGE + 3)]
        for one in talks:
            await one.say("hello")
        await talks[0].say("again")
        newest = [talks[0], *reversed(talks[1:])]
        first = await latest_conversations(services, "", None)
        rest = await latest_conversations(services, "", first[-1]["checkpoint_id"])
        assert [line["thread_id"] for line in (*first, *rest)] == [one.thread_id for one in newest]
        assert len(first) == PAGE
        (found,) = await latest_conversations(services, "user_7%", None)
        assert found["thread_id"] == talks[7].thread_id
        (found,) = await latest_conversations(services, talks[3].thread_id, None)
        assert found["user_id"] == "user_3%"
        assert await latest_conversations(services, "u%r", None) == []
