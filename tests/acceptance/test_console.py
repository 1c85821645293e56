"""The operator's page over HTTP: its files under a strict policy, its data for staff alone, its ways into a thread."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import jwt
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
