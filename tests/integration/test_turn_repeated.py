"""A message that comes again under its id: a double-clicked submit, a client that tries again after a time-out (O2)."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from graph import AgentContext
from memory.errors import InvalidInput
from nodes.texts import say
from tests.support.cut_off import announce
from tests.support.model_replies import Reply, server_error, tool_call, tool_calls
from tests.support.model_server import ModelServer, RoleQueues
from tests.support.tool_calls import returning, tool
from tests.support.turns import Talk, envelopes, talking
from tools.spec import Approval, ToolReply


async def send(talk: Talk, id: str, text: str = "note it", **context: Any) -> dict[str, Any]:
    return await talk.run({"messages": [HumanMessage(text, id=id)]}, **context)


def counting(ran: Counter[str], name: str, **options: Any) -> Any:
    async def run(args: Any, context: Any) -> str:
        ran[name] += 1
        return "done"

    return tool(name, run, effect="write", **options)


async def test_it_gets_its_earlier_answer_and_nothing_runs_again(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    ran: Counter[str] = Counter()
    script.add("chat", tool_call("note", {"x": 1}), Reply("Noted."), Reply("You are welcome."))
    async with talking(module_database_url, tmp_path, server, [counting(ran, "note")]) as talk:
        first = await send(talk, "m1")
        assert await send(talk, "m1") == first
        await send(talk, "m2", "thanks")
        again = await send(talk, "m1")
        assert (again["answer"], again["tool_calls"]) == ("Noted.", [])
        assert len(again["messages"]) == 6
        assert (await send(talk, "m2", "thanks"))["answer"] == "You are welcome."
        await talk.check_thread()
    assert (ran, len(server.requests)) == ({"note": 1}, 3)


async def test_who_streams_is_told_the_answer_in_the_modes_that_were_asked_for(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", Reply("Noted."))
    async with talking(module_database_url, tmp_path, server, []) as talk:
        await send(talk, "m1")
        graph, given = talk.agent.graph, {"messages": [HumanMessage("note it", id="m1")]}
        context = AgentContext(user_id=talk.user_id)

        async def streamed(mode: Any) -> list[Any]:
            return [e async for e in graph.astream(given, talk.config, context=context, stream_mode=mode)]

        both = await streamed(["messages", "values"])
        assert [mode for mode, _ in both] == ["messages", "values"]
        assert (both[0][1][0].text, both[1][1]["answer"]) == ("Noted.", "Noted.")
        (state,) = await streamed("values")
        assert state["answer"] == "Noted."
        assert await streamed("custom") == []


async def test_two_at_once_are_one_turn(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", Reply("Noted.", delay=0.1))
    async with talking(module_database_url, tmp_path, server, []) as talk:
        states = await asyncio.gather(send(talk, "m1"), send(talk, "m1"))
    assert [state["answer"] for state in states] == ["Noted.", "Noted."]
    assert len(states[0]["messages"]) == 2


async def test_a_turn_that_was_cut_off_is_gone_on_with_and_has_its_whole_time_again(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    ran: Counter[str] = Counter()
    asked = threading.Event()

    def never(request: Any) -> Reply:
        asked.set()
        return Reply("too late", delay=30)

    script.add("chat", tool_call("note", {"x": 1}), never)
    tools = [counting(ran, "note")]
    async with talking(module_database_url, tmp_path, server, tools, steward_turn_seconds=1) as talk:
        turn = asyncio.create_task(send(talk, "m1"))
        await asyncio.to_thread(asked.wait, 30)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        left = await deadline(talk)
        await asyncio.sleep(max(0.0, left - time.time()))
        script.add("chat", Reply("Noted."))
        state = await send(talk, "m1")
        assert (state["answer"], len(state["messages"]), ran) == ("Noted.", 4, {"note": 1})
        assert state["turn"]["deadline"] > left
        await talk.check_thread()


async def deadline(talk: Talk) -> float:
    return float((await talk.agent.graph.aget_state(talk.config)).values["turn"]["deadline"])


async def test_an_approval_that_waits_is_asked_for_again(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    ran: Counter[str] = Counter()
    approval = Approval("customer", "It cannot be undone.")
    script.add("chat", tool_call("cancel", {"x": 1}), Reply("Cancelled."))
    async with talking(
        module_database_url, tmp_path, server, [counting(ran, "cancel", approval=approval)]
    ) as talk:
        first = await send(talk, "m1")
        again = await send(talk, "m1")
        assert [one.value for one in again["__interrupt__"]] == [one.value for one in first["__interrupt__"]]
        assert (await talk.decide({"type": "approve"}))["answer"] == "Cancelled."
        assert (await send(talk, "m1"))["answer"] == "Cancelled."
    assert ran == {"cancel": 1}


async def test_another_message_under_a_known_id_is_refused_and_changes_nothing(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", Reply("Noted."), Reply("Yes?"))
    async with talking(module_database_url, tmp_path, server, []) as talk:
        state = await send(talk, "m1")
        for id in ("m1", state["messages"][-1].id):
            with pytest.raises(InvalidInput, match="an id of its own"):
                await send(talk, id, "I never said so")
        state = await send(talk, "m2", "hello")
        assert [m.text for m in state["messages"]] == ["note it", "Noted.", "hello", "Yes?"]


async def test_a_client_that_sends_the_whole_conversation_adds_its_last_message_only(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", Reply("Noted."), Reply("Yes?"))
    async with talking(module_database_url, tmp_path, server, []) as talk:
        state = await send(talk, "m1")
        changed = [HumanMessage("changed", id="m1"), *state["messages"][1:], HumanMessage("hello", id="m2")]
        state = await talk.run({"messages": changed})
        assert [m.text for m in state["messages"]] == ["note it", "Noted.", "hello", "Yes?"]


async def test_in_a_thread_that_was_handed_over_it_stands_once_for_customer_and_colleague(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    handover = ToolReply({"done": True}, {"handoff": {"reason": "asked", "summary": "a cup"}})
    script.add("chat", tool_call("handoff", {"x": 1}), Reply("A colleague takes over."))
    async with talking(module_database_url, tmp_path, server, [tool("handoff", returning(handover))]) as talk:
        await send(talk, "m1", "a person please")
        for _ in range(2):
            assert (await send(talk, "m2", "hello?"))["answer"] == ""
        for _ in range(2):
            state = await send(talk, "m3", "Here I am.", role="staff")
        assert [m.text for m in state["messages"]][-2:] == ["hello?", "Here I am."]
        assert (await send(talk, "m2", "hello?"))["answer"] == "Here I am."


async def test_after_an_apology_it_is_the_apology_that_comes_again(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", *[server_error()] * 8)
    async with talking(module_database_url, tmp_path, server, [], steward_turn_seconds=1) as talk:
        await send(talk, "m1", "hello")
        requests = len(server.requests)
        state = await send(talk, "m1", "hello")
        assert (state["answer"], len(server.requests)) == (say("model_unavailable", "en"), requests)


async def cut_off(talk: Talk, id: str, text: str) -> None:
    await announce(talk.agent.graph, talk.thread_id, HumanMessage(text, id=id))


async def test_a_message_whose_run_died_before_its_first_step_is_served_with_the_next(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", Reply("Hello."), Reply("Both."))
    async with talking(module_database_url, tmp_path, server, []) as talk:
        await send(talk, "m0", "hi")
        await cut_off(talk, "m1", "first")
        assert len((await talk.agent.graph.aget_state(talk.config)).values["messages"]) == 2
        await cut_off(talk, "m1", "first")  # tried again, and died again
        state = await send(talk, "m2", "second")
        assert [m.text for m in state["messages"]] == ["hi", "Hello.", "first", "second", "Both."]
        assert (await send(talk, "m1", "first"))["answer"] == "Both."
        await talk.check_thread()


async def test_a_message_whose_run_died_before_its_first_step_is_served_once_when_it_comes_again(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", Reply("Hello."))
    async with talking(module_database_url, tmp_path, server, []) as talk:
        await cut_off(talk, "m1", "first")
        state = await send(talk, "m1", "first")
        assert [m.text for m in state["messages"]] == ["first", "Hello."]


async def test_calls_of_a_turn_that_was_cut_off_keep_their_results(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    ran: Counter[str] = Counter()
    begun = asyncio.Event()

    async def endless(args: Any, context: Any) -> str:
        if begun.is_set():
            return "looked"
        begun.set()
        await asyncio.sleep(60)
        return "never"

    script.add("chat", tool_calls(("note", {"x": 1}), ("look", {"x": 1})), Reply("Both."))
    tools = [counting(ran, "note", alone=True), tool("look", endless)]
    async with talking(module_database_url, tmp_path, server, tools) as talk:
        turn = asyncio.create_task(send(talk, "m1"))
        await begun.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        state = await send(talk, "m1")
        assert (state["answer"], ran) == ("Both.", {"note": 1})
        assert [envelope["status"] for envelope in envelopes(state)] == ["ok", "ok"]
        assert sum(isinstance(m, AIMessage) and bool(m.tool_calls) for m in state["messages"]) == 1


async def test_a_run_that_the_server_begins_again_after_it_had_ended_is_not_served_twice(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    ran: Counter[str] = Counter()
    script.add("chat", tool_call("note", {"x": 1}), Reply("Noted."), Reply("You are welcome."))
    async with talking(module_database_url, tmp_path, server, [counting(ran, "note")]) as talk:

        async def served(run_id: str, text: str) -> dict[str, Any]:
            config = {**talk.config, "metadata": {"run_id": run_id}}
            given: Any = {"messages": [("user", text)]}
            context = AgentContext(user_id=talk.user_id)
            return await talk.agent.graph.ainvoke(given, config, context=context)

        first = await served("r1", "note it")
        assert await served("r1", "note it") == first
        await served("r2", "thanks")
        assert (await served("r1", "note it"))["answer"] == "Noted."
        assert (await served("r2", "thanks"))["answer"] == "You are welcome."
        script.add("chat", Reply("Once more?"))
        state = await served("r3", "note it")
        assert state["answer"] == "Once more?", "the same words in a run of their own are a new message"
        said = [m.text for m in state["messages"] if isinstance(m, HumanMessage)]
        assert said == ["note it", "thanks", "note it"]
        await talk.check_thread()
    assert (ran, len(server.requests)) == ({"note": 1}, 4)
