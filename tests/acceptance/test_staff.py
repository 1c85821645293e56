"""What staff do on the server: the operator's page over HTTP, and a turn edited, repeated and forked as Studio does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import jwt
import psycopg
import pytest
from langgraph_sdk import get_client

from tests.support.processes import Server, Steward

KEY = "a-shared-secret-of-at-least-32-bytes"
HOSTILE = "<script>alert(1)</script>"
API = "/console/api"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, module_database_url: str) -> Iterator[Server]:
    """Served by the offline demo model."""
    steward = Steward(
        tmp_path_factory.mktemp("console"),
        database_url=module_database_url,
        steward_auth="jwt",
        steward_jwt_key=KEY,
    )
    with Server(steward) as server:
        yield server


def token(user: str, **claims: Any) -> dict[str, str]:
    return {"authorization": f"Bearer {jwt.encode({'sub': user, **claims}, KEY)}"}


STAFF = token("boss", role="staff")


async def say(server: Server, *texts: str) -> tuple[str, dict[str, Any]]:
    """A customer's conversation: its thread, and the state that the last turn left."""
    client = get_client(url=server.url, headers=token("user_123"))
    thread_id = (await client.threads.create())["thread_id"]
    state: Any = {}
    for text in texts:
        message = {"messages": [{"role": "user", "content": text}]}
        state = await client.runs.wait(thread_id, "steward", input=message)
    return thread_id, state


async def test_the_page_is_served_without_data_and_lets_nothing_else_in(server: Server) -> None:
    async with httpx.AsyncClient(base_url=server.url) as http:
        page = await http.get("/console")
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert "default-src 'none'" in page.headers["content-security-policy"]
        files = re.findall(r'(?:src|href)="(/console/page/[^"]+)"', page.text)
        assert len(files) >= 5
        for file in files:
            served = await http.get(file)
            assert served.status_code == 200, file
            assert served.headers["x-content-type-options"] == "nosniff"
            again = await http.get(file, headers={"if-none-match": served.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
        for missing in ("/console/page/nothing.js", "/console/page/..%2froutes.py", "/console/page/"):
            assert (await http.get(missing)).status_code in (401, 404)


async def test_its_data_are_for_staff_alone(server: Server) -> None:
    thread_id, state = await say(server, "hello")
    turn = f"{API}/conversations/{thread_id}/turns/{state['turn']['id']}"
    paths = [
        "about",
        "graph",
        "conversations",
        f"conversations/{thread_id}",
        "handovers",
        "users",
        "feedback",
    ]
    async with httpx.AsyncClient(base_url=server.url) as http:
        for path in [turn, *(f"{API}/{path}" for path in paths)]:
            assert (await http.get(path)).status_code == 401, path
            assert (await http.get(path, headers=token("user_123"))).status_code == 403, path
            found = await http.get(path, headers=STAFF)
            assert found.status_code == 200, (path, found.text)
            assert found.headers["content-type"] == "application/json"
        for missing in (f"{API}/conversations/none", f"{API}/conversations/{thread_id}/turns/turn-none"):
            assert (await http.get(missing, headers=STAFF)).status_code == 404


async def test_an_operator_finds_a_conversation_decides_and_sees_the_way_it_took(server: Server) -> None:
    words = f"订单 GHI-20240512-003 的杯子碎了，我要退货，电话 13800138123 {HOSTILE}"
    thread_id, state = await say(server, words)
    staff = get_client(url=server.url, headers=STAFF)
    async with httpx.AsyncClient(base_url=server.url, headers=STAFF, timeout=30) as http:
        about = (await http.get(f"{API}/about")).json()
        assert (about["business"]["name"], about["authentication"]) == ("shop", "jwt")
        found = (await http.get(f"{API}/conversations", params={"search": thread_id})).json()
        (line,) = found["conversations"]
        assert line["request"] == words
        said = (await http.get(f"{API}/conversations/{thread_id}")).json()
        (asked,) = said["waiting"]["requests"]
        decisions = {asked["call_id"]: {"type": "reject", "message": "no such return"}}
        await staff.runs.wait(
            thread_id,
            "steward",
            command={"resume": {"decisions": decisions}},
            context={"user_id": said["user_id"], "role": "staff"},
        )
        turn = (await http.get(f"{API}/conversations/{thread_id}/turns/{state['turn']['id']}")).json()
        nodes = [name for step in turn["way"]["steps"] for name in step["nodes"]]
        assert nodes.index("request_approval") < nodes.index("write_memory")
        assert turn["tool_calls"][0]["error_kind"] == "denied"
        drawn = (await http.get(f"{API}/graph")).json()
        edges = {(curve["source"], curve["target"]) for curve in drawn["curves"]}
        assert {tuple(edge) for edge in turn["way"]["taken"]} <= edges
        assert set(nodes) <= {box["name"] for box in drawn["boxes"]}


async def test_a_colleague_writes_into_a_thread_that_was_handed_over_and_gives_it_back(
    server: Server,
) -> None:
    thread_id, state = await say(server, "I want to speak to a person please")
    assert state["handoff"]
    staff = get_client(url=server.url, headers=STAFF)
    async with httpx.AsyncClient(base_url=server.url, headers=STAFF, timeout=30) as http:
        listed = (await http.get(f"{API}/handovers")).json()["handovers"]
        assert thread_id in [one["thread_id"] for one in listed]
        await staff.runs.wait(
            thread_id,
            "steward",
            input={"messages": [{"role": "user", "content": f"I look after it. {HOSTILE}"}]},
            context={"user_id": "user_123", "role": "staff"},
        )
        said = (await http.get(f"{API}/conversations/{thread_id}")).json()
        assert said["messages"][-1]["by"] == "staff"
        assert said["messages"][-1]["text"] == f"I look after it. {HOSTILE}"
        assert said["user_id"] == "user_123"
        assert (await http.post(f"/threads/{thread_id}/handback")).status_code == 200
        listed = (await http.get(f"{API}/handovers")).json()["handovers"]
        assert thread_id not in [one["thread_id"] for one in listed]


async def test_users_and_ratings_are_listed(server: Server) -> None:
    user = f"a/b 用户 {HOSTILE}%"
    _, state = await say(server, "hello")
    async with httpx.AsyncClient(base_url=server.url, headers=STAFF) as http:
        path = f"/users/{quote(user, safe='')}/memories/{quote('<b>key</b>', safe='')}"
        assert (await http.put(path, json={"content": HOSTILE})).status_code == 200
        found = (await http.get(f"{API}/users", params={"search": "用户 <SCRIPT>"})).json()["users"]
        assert [(one["user_id"], one["memories"]) for one in found] == [(user, 1)]
        assert (await http.get(f"{API}/users", params={"search": "a_b"})).json()["users"] == []
        turn = state["turn"]["id"]
        rating = {"rating": "bad", "reason": HOSTILE}
        assert (await http.post(f"/turns/{turn}/feedback", json=rating)).status_code == 201
        listed = (await http.get(f"{API}/feedback", params={"rating": "bad"})).json()["feedback"]
        assert [(one["turn_id"], one["reason"]) for one in listed] == [(turn, HOSTILE)]
        assert (await http.get(f"{API}/feedback", params={"rating": "good"})).json()["feedback"] == []


def ask(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


async def test_studio_is_shown_what_can_be_edited_with_what_is_in_force(server: Server) -> None:
    client = get_client(url=server.url, headers=STAFF)
    (assistant,) = await client.assistants.search(graph_id="steward")
    schemas = await client.assistants.get_schemas(assistant["assistant_id"])
    assert "messages" in schemas["input_schema"]["properties"]
    assert {"route", "recalled", "tool_calls", "context"} <= schemas["state_schema"]["properties"].keys()
    fields = schemas["context_schema"]["properties"]
    prompt = fields["system_prompt"]
    assert (prompt["type"], prompt["langgraph_type"]) == ("string", "prompt")
    assert "{instructions}" in prompt["default"]
    assert fields["instructions"]["default"]
    slider = fields["clarify_below"]
    assert (slider["default"], slider["minimum"], slider["maximum"]) == (0.6, 0, 1)
    assert slider["x_oap_ui_config"]["type"] == "slider"
    assert fields["routing"]["enum"] == ["on", "off"]
    drawn = await client.assistants.get_graph(assistant["assistant_id"])
    nodes = {str(node["id"]) for node in drawn["nodes"]}
    named = {node for field in fields.values() for node in field.get("langgraph_nodes", ())}
    assert {"route", "call_model", "reflect", "execute_tools"} <= named <= nodes
    labels = {edge.get("data") for edge in drawn["edges"]}
    assert {"tools", "answer", "approval", "another round", "unsure"} <= labels


async def test_what_a_run_sets_counts_for_staff_and_never_for_a_customer(server: Server) -> None:
    edited = {"user_id": "user_123", "routing": "off", "max_tool_calls": 1}
    staff = get_client(url=server.url, headers=STAFF)
    thread_id, _ = await say(server, "hello")
    question = ask("Where is my order ABC-20240520-001?")
    state = await staff.runs.wait(thread_id, "steward", input=question, context=edited)
    assert state["turn"]["versions"]["overrides"] == {"routing": "off", "max_tool_calls": "1"}
    assert state["route"]["why"] == "Routing is switched off."
    assistant = await staff.assistants.create("steward", context=edited)
    state = await staff.runs.wait(thread_id, assistant["assistant_id"], input=question)
    assert state["route"]["why"] == "Routing is switched off."
    customer = get_client(url=server.url, headers=token("user_123"))
    own = (await customer.threads.create())["thread_id"]
    state = await customer.runs.wait(own, "steward", input=question, context=edited)
    assert "overrides" not in state["turn"]["versions"]
    assert state["route"]["intents"][0]["name"] == "order"


async def test_a_turn_can_be_forked_from_before_any_of_its_stages(server: Server) -> None:
    thread_id, ended = await say(server, "Where is my order ABC-20240520-001?")
    staff = get_client(url=server.url, headers=STAFF)
    history = await staff.threads.get_history(thread_id, limit=50)
    stages = {node: state["checkpoint"] for state in history for node in state["next"]}
    assert stages.keys() >= {
        "route",
        "assemble_context",
        "call_model",
        "execute_tools",
        "write_memory",
    }
    for node in ("route", "call_model", "execute_tools", "write_memory"):
        again = await staff.runs.wait(
            thread_id, "steward", checkpoint=stages[node], context={"user_id": "user_123"}
        )
        assert again["answer"] == ended["answer"], node
    edited = {"answer": "An edited answer."}
    await staff.threads.update_state(
        thread_id, edited, as_node="call_model", checkpoint=stages["write_memory"]
    )
    assert (await staff.threads.get_state(thread_id))["next"] == ["write_memory"]
    state = await staff.runs.wait(thread_id, "steward", context={"user_id": "user_123"})
    assert state["answer"] == "An edited answer."


async def test_what_waits_in_a_thread_and_in_its_copy_is_done_once(
    server: Server, module_database_url: str
) -> None:
    thread_id, _ = await say(server, "订单 GHI-20240512-003 的杯子碎了，我要退货，电话 13800138123")
    staff = get_client(url=server.url, headers=STAFF)
    async with httpx.AsyncClient(base_url=server.url) as http:
        path = f"/threads/{thread_id}/copy"
        foreign = await http.post(path, headers=token("user_456"))
        nowhere = await http.post(f"/threads/{uuid4()}/copy", headers=token("user_456"))
        assert foreign.status_code == nowhere.status_code == 409
        copied = await http.post(path, headers=STAFF)
    assert copied.status_code == 200, copied.text
    numbers = set()
    for each in (thread_id, copied.json()["thread_id"]):
        command = {"resume": {"decisions": [{"type": "approve"}]}}
        context = {"user_id": "user_123", "role": "staff"}
        state = await staff.runs.wait(each, "steward", command=command, context=context)
        (made,) = [call for call in state["tool_calls"] if call["name"] == "aftersale_create"]
        assert made["status"] == "ok"
        numbers.update(re.findall(r"AS-\d+-\d+", state["answer"]))
    with psycopg.connect(module_database_url) as connection:
        asked = (
            "SELECT ticket_no FROM shop.ticket WHERE order_id = 'GHI-20240512-003' AND idempotency_key <> ''"
        )
        tickets = {ticket for (ticket,) in connection.execute(asked)}
    assert numbers <= tickets
    assert len(tickets) == 1
