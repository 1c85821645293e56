"""`steward serve` and `langgraph_sdk` over HTTP: threads, streams, history, forks, approvals, and SIGKILL."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from tests.support.model_replies import (
    Reply,
    Request,
    extractor_reply,
    reviewer_reply,
    router_reply,
    tool_call,
)
from tests.support.model_server import ModelServer, role_of
from tests.support.processes import Server, Steward, wait_until

USER = {"user_id": "user_123"}
QUESTION = "帮我查一下订单 ABC-20240520-001 到哪里了"
ANSWER = "您的订单已到达上海转运中心，运单号 SF1234567890。"
RETURN = {"order_id": "GHI-20240512-003", "issue_desc": "杯子碎了，要求退货", "contact": "13800138123"}


def script(request: Request) -> Reply:
    """Orders are looked up, broken cups returned, and a "slow" question is never answered in time."""
    role = role_of(request)
    text = str(request["messages"][-1]["content"])
    if role == "router":
        return router_reply(request, ("aftersale" if "碎" in text else "order", 0.95))
    if role == "extractor":
        return extractor_reply(request)
    if role == "reviewer":
        return reviewer_reply(request)
    if request["messages"][-1]["role"] == "tool":
        return Reply(ANSWER)
    if "slow" in text:
        return Reply("too late", delay=60)
    if "碎" in text:
        return tool_call("aftersale_create", RETURN)
    return tool_call("order_query", {"order_id": "ABC-20240520-001"}) if "ABC" in text else Reply("好的。")


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer(script) as model:
        yield model


@pytest.fixture(scope="module")
def steward(
    tmp_path_factory: pytest.TempPathFactory, module_database_url: str, model: ModelServer
) -> Steward:
    folder = tmp_path_factory.mktemp("server")
    return Steward(folder, database_url=module_database_url, steward_local_router="off", **model.settings())


@pytest.fixture(scope="module")
def server(steward: Steward) -> Iterator[Server]:
    with Server(steward) as server:
        yield server


@pytest.fixture
def client(server: Server) -> LangGraphClient:
    return get_client(url=server.url)


def ask(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


async def test_a_turn_streams_in_every_mode_and_the_router_never_in_messages(client: LangGraphClient) -> None:
    thread = await client.threads.create()
    modes = ["values", "updates", "messages-tuple", "custom"]
    events: dict[str, list[Any]] = {}
    async for part in client.runs.stream(
        thread["thread_id"], "steward", input=ask(QUESTION), context=USER, stream_mode=modes
    ):
        events.setdefault(part.event, []).append(part.data)
    assert "error" not in events
    nodes = [node for update in events["updates"] for node in update]
    assert {"route", "recall_memory", "call_model", "execute_tools", "write_memory"} <= set(nodes)
    assert events["values"][-1]["answer"] == ANSWER
    assert {event["phase"] for event in events["custom"]} == {"started", "finished"}
    spoken = [message for message, _ in events["messages"] if message["type"] in ("ai", "AIMessageChunk")]
    assert "".join(message["content"] for message in spoken if not message.get("tool_calls")) == ANSWER
    assert "intents" not in str(events["messages"])


async def test_history_can_be_read_and_forked(client: LangGraphClient) -> None:
    thread_id = (await client.threads.create())["thread_id"]
    await client.runs.wait(thread_id, "steward", input=ask(QUESTION), context=USER)
    history = await client.threads.get_history(thread_id, limit=50)
    assert len(history) > 5
    assert history[0]["values"]["answer"] == ANSWER
    before_answer = next(state for state in history if state["next"] == ["call_model"])
    await client.threads.update_state(
        thread_id,
        {"answer": "改过的答复"},
        as_node="write_memory",
        checkpoint=before_answer["checkpoint"],
    )
    state = await client.threads.get_state(thread_id)
    assert state["values"]["answer"] == "改过的答复"
    goes_on = await client.runs.wait(thread_id, "steward", input=ask("谢谢"), context=USER)
    assert goes_on["answer"] == "好的。"


async def test_the_schemas_name_what_studio_edits(client: LangGraphClient) -> None:
    (assistant,) = await client.assistants.search(graph_id="steward")
    schemas = await client.assistants.get_schemas(assistant["assistant_id"])
    assert "user_id" in schemas["context_schema"]["properties"]
    assert "messages" in schemas["input_schema"]["properties"]
    drawn = await client.assistants.get_graph(assistant["assistant_id"])
    assert {"route", "reflect", "request_approval"} <= {node["id"] for node in drawn["nodes"]}


async def test_an_approval_is_listed_and_settled_by_resuming(client: LangGraphClient, server: Server) -> None:
    thread_id = (await client.threads.create())["thread_id"]
    state = await client.runs.wait(
        thread_id,
        "steward",
        input=ask("订单 GHI-20240512-003 的杯子碎了，我要退货，电话 13800138123"),
        context=USER,
    )
    assert state["__interrupt__"][0]["value"]["action_requests"][0]["name"] == "aftersale_create"
    async with httpx.AsyncClient(base_url=server.url) as http:
        listed = (await http.get("/approvals")).json()["approvals"]
        (waiting,) = [one for one in listed if one["thread_id"] == thread_id]
        assert waiting["user_id"] == "user_123"
        assert waiting["requests"][0]["by"] == "staff"
        assert waiting["interrupt"]["action_requests"][0]["args"] == RETURN
        resumed = await client.runs.wait(
            thread_id,
            "steward",
            command={"resume": {"decisions": [{"type": "approve"}]}},
            context={**USER, "role": "staff"},
        )
        assert resumed["answer"] == ANSWER
        assert thread_id not in [
            one["thread_id"] for one in (await http.get("/approvals")).json()["approvals"]
        ]


async def test_a_thread_begun_on_the_command_line_goes_on_on_the_server(
    client: LangGraphClient, server: Server, steward: Steward
) -> None:
    thread_id = str(uuid4())
    first = await asyncio.to_thread(steward.chat, QUESTION, "--thread", thread_id)
    assert first["answer"] == ANSWER
    await client.threads.create(thread_id=thread_id, if_exists="do_nothing")
    state = await client.runs.wait(thread_id, "steward", input=ask("谢谢"), context=USER)
    said = [message["content"] for message in state["messages"] if message["type"] == "human"]
    assert said == [QUESTION, "谢谢"]
    last = await asyncio.to_thread(steward.chat, "再见", "--thread", thread_id)
    assert last["answer"] == "好的。"


async def test_memories_can_be_corrected_exported_and_forgotten(server: Server) -> None:
    user = "a/b 用户😀@example.com%"
    path = f"/users/{httpx.URL(path='/' + user).raw_path.decode()[1:].replace('/', '%2F')}"
    async with httpx.AsyncClient(base_url=server.url) as http:
        put = await http.put(
            f"{path}/memories/delivery_day", json={"content": "周六送货", "type": "preference"}
        )
        assert put.status_code == 200, put.text
        listed = (await http.get(f"{path}/memories")).json()["memories"]
        assert [(memory["key"], memory["content"]) for memory in listed] == [("delivery_day", "周六送货")]
        assert (await http.get(f"{path}/memories/delivery_day")).json()["type"] == "preference"
        assert (await http.get(f"{path}/export")).json()["memories"][0]["content"] == "周六送货"
        assert (await http.delete(f"{path}/memories/delivery_day")).status_code == 204
        assert (await http.get(f"{path}/memories/delivery_day")).status_code == 404
        assert (await http.put(f"{path}/memories/x", json={"content": ""})).status_code == 422
        assert (await http.put(f"{path}/memories/x", content=b"{")).status_code == 422
        assert (await http.delete(path)).status_code == 200
        assert (await http.get(f"{path}/memories")).json()["memories"] == []


async def test_an_answer_can_be_rated_and_costs_be_read(client: LangGraphClient, server: Server) -> None:
    thread_id = (await client.threads.create())["thread_id"]
    state = await client.runs.wait(thread_id, "steward", input=ask(QUESTION), context=USER)
    turn = state["turn"]["id"]
    async with httpx.AsyncClient(base_url=server.url) as http:
        rated = await http.post(f"/turns/{turn}/feedback", json={"rating": "bad", "reason": "too slow"})
        assert rated.status_code == 201, rated.text
        assert (await http.post(f"/turns/{turn}/feedback", json={"rating": "great"})).status_code == 422
        assert (await http.post("/turns/no-such/feedback", json={"rating": "good"})).status_code == 404
        spent = (await http.get("/costs", params={"thread": thread_id})).json()
        assert [row["key"] for row in spent["rows"]] == [turn]
        assert spent["total"]["by_role"]["chat"] > 0
        assert (await http.get("/costs", params={"days": "many"})).status_code == 422


async def test_a_thread_with_a_person_is_handed_back(client: LangGraphClient, server: Server) -> None:
    thread_id = (await client.threads.create())["thread_id"]
    await client.runs.wait(thread_id, "steward", input=ask("你好"), context=USER)
    handoff = {"since": "2024-05-27T00:00:00Z", "reason": "wants a person", "packet": {}}
    await client.threads.update_state(thread_id, {"handoff": handoff}, as_node="write_memory")
    silent = await client.runs.wait(thread_id, "steward", input=ask("在吗"), context=USER)
    assert not silent["answer"]
    async with httpx.AsyncClient(base_url=server.url) as http:
        assert (await http.post(f"/threads/{thread_id}/handback")).status_code == 200
        assert (await http.post(f"/threads/{thread_id}/handback")).status_code == 409
        assert (await http.post(f"/threads/{uuid4()}/handback")).status_code == 404
    served = await client.runs.wait(thread_id, "steward", input=ask("在吗"), context=USER)
    assert served["answer"] == "好的。"


async def test_other_machines_and_host_names_are_not_served_without_authentication(server: Server) -> None:
    async with httpx.AsyncClient(base_url=server.url) as http:
        for path in (
            *("/approvals", "/costs", "/threads/search", "/users/user_123/memories"),
            *("/console", "/console/page/app.js", "/console/api/conversations"),
        ):
            method = "POST" if path == "/threads/search" else "GET"
            refused = await http.request(method, path, headers={"host": "evil.example"}, json={})
            assert refused.status_code == 403, path
        assert (await http.get("/health")).status_code == 200
        assert (await http.get("/ready")).json()["status"] == "ready"


async def test_a_killed_server_goes_on_with_the_same_thread(
    client: LangGraphClient, server: Server, model: ModelServer
) -> None:
    thread_id = (await client.threads.create())["thread_id"]
    await client.runs.wait(thread_id, "steward", input=ask(QUESTION), context=USER)
    await client.runs.create(thread_id, "steward", input=ask("a slow one"), context=USER)
    await asyncio.to_thread(wait_until, lambda: _asked(model, "a slow one"))
    await asyncio.to_thread(server.stop, signal.SIGKILL)
    await asyncio.to_thread(server.start)
    again = get_client(url=server.url)
    await _cancel_all(again, thread_id)
    state = await again.runs.wait(thread_id, "steward", input=ask("谢谢"), context=USER)
    said = [message["content"] for message in state["messages"] if message["type"] == "human"]
    assert said == [QUESTION, "a slow one", "谢谢"]
    assert state["answer"] == "好的。"
    assert not model.refused


async def _cancel_all(client: LangGraphClient, thread_id: str) -> None:
    """The server takes a run up again that was cut off; the customer of this test does not wait for it."""
    for run in await client.runs.list(thread_id):
        if run["status"] in ("pending", "running"):
            await client.runs.cancel(thread_id, run["run_id"], wait=True)


def _asked(model: ModelServer, text: str) -> bool:
    return any(text in str(request["messages"][-1]) for request in model.requests_of("chat"))


def test_nothing_blocked_the_event_loop(server: Server) -> None:
    assert "BlockingError" not in server.log
    assert "Blocking call" not in server.log


def test_a_port_that_is_taken_is_told_in_one_line(server: Server, steward: Steward, tmp_path: Path) -> None:
    done = steward.run("serve", "--port", str(server.port))
    assert done.returncode == 3
    assert str(server.port) in done.stderr
    assert done.stderr.count("\n") == 1
