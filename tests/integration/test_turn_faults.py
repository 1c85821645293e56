"""Whatever fails in a turn: an answer, every call with one result, and a thread that goes on."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graph import AgentContext, Settings, open_agent
from nodes.assemble_context import TIGHT_SHARE
from nodes.run import Run
from nodes.state import AgentState
from nodes.texts import say
from tests.support.model_replies import (
    Call,
    Reply,
    Request,
    context_overflow,
    empty,
    refusal,
    server_error,
    tool_call,
    tool_calls,
)
from tests.support.model_server import ModelServer, RoleQueues
from tests.support.tool_calls import raising, returning, tool
from tests.support.turns import QUIET, Talk, business, envelopes, talking
from tools.errors import TransientError
from tools.spec import ToolReply


async def test_a_tool_that_raises_keeps_its_siblings_and_the_turn(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add(
        "chat", tool_calls(("ok", {"x": 1}), ("bad", {"x": 2}), ("gone", {"x": 3})), Reply("Half of it.")
    )
    tools = [
        tool("ok", returning({"n": 1})),
        tool("bad", raising(RuntimeError("token=sk-abcdefghijklmnopqrstuvwx"))),
        tool("gone", raising(asyncio.CancelledError())),
    ]
    async with talking(module_database_url, tmp_path, server, tools) as talk:
        state = await talk.say("all three")
        await talk.check_thread()
    assert state["answer"] == "Half of it."
    kinds = [envelope.get("error_kind") for envelope in envelopes(state)]
    assert kinds == [None, "internal", "cancelled"]
    assert "sk-abc" not in str(server.requests)


async def test_a_transient_failure_is_retried_and_its_finished_siblings_are_not_run_again(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    ran: Counter[str] = Counter()

    async def steady(args: Any, context: Any) -> str:
        ran["steady"] += 1
        return "ok"

    async def shaky(args: Any, context: Any) -> str:
        ran["shaky"] += 1
        if ran["shaky"] < 3:
            raise TransientError("a moment")
        return "ok at last"

    script.add("chat", tool_calls(("steady", {"x": 1}), ("shaky", {"x": 1})), Reply("Both."))
    async with talking(
        module_database_url, tmp_path, server, [tool("steady", steady), tool("shaky", shaky)]
    ) as talk:
        state = await talk.say("both")
        await talk.check_thread()
    assert ran == {"steady": 1, "shaky": 3}
    assert [call["attempts"] for call in state["tool_calls"]] == [1, 3]
    assert state["answer"] == "Both."


@pytest.mark.parametrize("arguments", ['{"x": ', '{"x":1}{"x":2}', "[1]"])
async def test_calls_that_cannot_be_read_are_told_and_not_run(
    arguments: str, module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("look", arguments), Reply("I could not."))
    async with talking(module_database_url, tmp_path, server, [tool("look", returning("ran"))]) as talk:
        state = await talk.say("look")
        await talk.check_thread()
    assert state["answer"] == "I could not."
    assert [envelope["status"] for envelope in envelopes(state)] == ["error"]


async def test_call_ids_are_made_unique_within_a_message_and_across_turns(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    twice = Reply(calls=[Call("look", {"x": 1}, id="call_1"), Call("look", {"x": 2}, id="call_1")])
    script.add("chat", twice, Reply("One."), twice, without_id(), Reply("Two."))
    async with talking(module_database_url, tmp_path, server, [tool("look", returning("seen"))]) as talk:
        await talk.say("look")
        state = await talk.say("look again")
        await talk.check_thread()
    assert (state["answer"], len(envelopes(state))) == ("Two.", 5)


def without_id() -> Reply:
    return Reply(calls=[Call("look", {"x": 3}, id=None)])


async def test_text_beside_a_call_is_never_the_answer_nor_streamed_as_one(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    claim = "Your refund is done."
    script.add("chat", tool_call("look", {"x": 1}, text=claim), Reply("It did not work."))
    async with talking(
        module_database_url, tmp_path, server, [tool("look", raising(RuntimeError("no")))]
    ) as talk:
        shown: dict[str, str] = {}
        void: set[str] = set()
        stream = talk.agent.graph.astream(
            {"messages": [("user", "refund")]},
            talk.config,
            context=AgentContext(user_id="user_123"),
            stream_mode=["messages", "custom"],
        )
        async for mode, event in stream:
            if mode == "messages" and event[0].type in ("AIMessageChunk", "ai"):
                shown[event[0].id] = shown.get(event[0].id, "") + event[0].text
            elif mode == "custom" and event.get("type") == "provisional":
                void.add(event["message_id"])
        state = (await talk.agent.graph.aget_state(talk.config)).values
    assert state["answer"] == "It did not work."
    assert [text for id, text in shown.items() if id not in void] == ["It did not work."]


@pytest.mark.parametrize("reply", [empty(), refusal("I will not."), Reply(text=None)])
async def test_silence_and_refusal_end_in_an_answer(
    reply: Reply, module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", reply, reply, Reply("Yes?"))
    async with talking(module_database_url, tmp_path, server, []) as talk:
        state = await talk.say("hello")
        assert state["answer"].strip()
        await talk.check_thread()
        assert (await talk.say("hello?"))["answer"] == "Yes?"


async def test_content_in_blocks_is_an_answer_in_text(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", Reply(text=[{"type": "text", "text": "您好。"}]))
    async with talking(module_database_url, tmp_path, server, []) as talk:
        state = await talk.say("你好")
    assert state["answer"] == "您好。"


async def test_an_overflow_is_assembled_tighter_once(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", Reply("Noted. " * 300), context_overflow(), Reply("Shorter."))
    script.add("chat", context_overflow(), context_overflow(), Reply("Back."))
    async with talking(module_database_url, tmp_path, server, [], steward_context_tokens=12000) as talk:
        await talk.say("a long story " * 300)
        state = await talk.say("go on")
        assert state["answer"] == "Shorter."
        assert state["context"]["tight"]
        assert state["context"]["budget"] == int((12_000 - 1500) * TIGHT_SHARE)
        assert len(server.requests) == 3
        state = await talk.say("go on")
        assert (state["answer"], state["stopped_because"]) == (
            say("model_unavailable", "en"),
            "model_unavailable",
        )
        assert (await talk.say("again"))["answer"] == "Back."


@pytest.mark.parametrize(("words", "locale"), [("我的订单呢", "zh"), ("my order?", "en")])
async def test_without_a_model_the_answer_is_polite_in_the_customers_language(
    words: str, locale: str, module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", *[server_error()] * 8)
    async with talking(
        module_database_url, tmp_path, server, [], steward_turn_seconds=2, steward_chat_timeout=1
    ) as talk:
        state = await talk.say(words)
        assert state["answer"] == say("model_unavailable", locale)
        assert state["stopped_because"] == "model_unavailable"
        await talk.check_thread()
        server.reset(RoleQueues(chat=[Reply("Here I am.")]))
        assert (await talk.say(words))["answer"] == "Here I am."


@pytest.mark.parametrize("stage", ["route", "recall_memory", "assemble_context", "call_model", "open_turn"])
async def test_a_stage_with_a_fault_of_its_own_ends_the_turn_with_an_apology_and_an_intact_thread(
    stage: str,
    module_database_url: str,
    tmp_path: Path,
    server: ModelServer,
    script: RoleQueues,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from graph.build import STAGES
    from nodes.open_turn import open_turn

    faulty = True

    async def fails_once(state: AgentState, run: Run) -> AgentState:
        nonlocal faulty
        if faulty:
            faulty = False
            raise KeyError("password=hunter2")
        return await (STAGES | {"open_turn": open_turn})[stage](state, run)

    monkeypatch.setattr("graph.first_stages.open_turn", fails_once if stage == "open_turn" else open_turn)
    stages = {stage: fails_once} if stage in STAGES else {}
    script.add("chat", Reply("Fine."), Reply("Fine."))
    values = {"database_url": module_database_url, "steward_home": tmp_path, **QUIET, **server.settings()}
    async with open_agent(Settings(_env_file=None, **values), business([]), stages=stages) as agent:
        talk = Talk(agent)
        state = await talk.say("hello")
        if stage == "recall_memory":
            assert state["answer"] == "Fine."
        else:
            assert state["answer"] == say("internal_fault", "en")
            assert (state["stopped_because"], len(state["fault"])) == ("unrecoverable", 12)
        assert "hunter2" not in str(state)
        await talk.check_thread()
        state = await talk.say("hello again")
        assert (state["answer"], state["fault"]) == ("Fine.", None)


async def test_a_fault_while_tools_run_leaves_no_call_without_a_result(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    async def fails(state: AgentState, run: Run) -> AgentState:
        raise ZeroDivisionError

    script.add("chat", tool_call("look", {"x": 1}), Reply("Fine."))
    values = {"database_url": module_database_url, "steward_home": tmp_path, **QUIET, **server.settings()}
    settings = Settings(_env_file=None, **values)
    tools = business([tool("look", returning(1))])
    async with open_agent(settings, tools, stages={"execute_tools": fails}) as agent:
        talk = Talk(agent)
        assert (await talk.say("look"))["answer"] == say("internal_fault", "en")
        assert (await talk.say("hello"))["answer"] == "Fine."
        await talk.check_thread()


async def test_a_turn_cancelled_from_outside_leaves_a_thread_that_goes_on(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def endless(args: Any, context: Any) -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    def mended(request: Request) -> Reply:
        results = [m["content"] for m in request["messages"] if m["role"] == "tool"]
        assert len(results) == 1
        assert "in_doubt" in results[0]
        return Reply("Let me look into that.")

    script.add("chat", tool_call("pay", {"x": 1}), mended)
    async with talking(module_database_url, tmp_path, server, [tool("pay", endless, effect="write")]) as talk:
        turn = asyncio.create_task(talk.say("pay"))
        await begun.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert ended.is_set()
        assert (await talk.say("well?"))["answer"] == "Let me look into that."
        await talk.check_thread()


async def test_four_turns_at_once_on_one_thread_leave_eight_messages(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", *[Reply(f"answer {n}", delay=0.05) for n in range(4)])
    async with talking(module_database_url, tmp_path, server, []) as talk:
        await asyncio.gather(*(talk.say(f"question {n}") for n in range(4)))
        messages = (await talk.agent.graph.aget_state(talk.config)).values["messages"]
    assert [message.type for message in messages] == ["human", "ai"] * 4
    assert {m.text for m in messages if m.type == "human"} == {f"question {n}" for n in range(4)}


async def test_after_handing_over_the_agent_is_silent_until_it_is_handed_back(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    async def hand_over(args: Any, context: Any) -> ToolReply:
        return ToolReply({"handed_over": True}, {"handoff": {"reason": "asked", "summary": "wants a person"}})

    script.add("chat", tool_call("hand_over", {}), Reply("A colleague takes over."), Reply("Here again."))
    async with talking(module_database_url, tmp_path, server, [tool("hand_over", hand_over)]) as talk:
        state = await talk.say("a person please")
        assert (state["answer"], state["handoff"]["reason"]) == ("A colleague takes over.", "asked")
        asked = len(server.requests)
        assert (await talk.say("are you there?"))["answer"] == ""
        assert len(server.requests) == asked
        await talk.agent.graph.aupdate_state(talk.config, {"handoff": None}, as_node="write_memory")
        assert (await talk.say("hello?"))["answer"] == "Here again."
        await talk.check_thread()
