"""Every door of the server, tried over HTTP with forged tokens, and with a true token for what is another's."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from uuid import uuid4

import httpx
import jwt
import pytest

from tests.support.model_replies import Reply, Request, extractor_reply, router_reply
from tests.support.model_server import ModelServer, role_of
from tests.support.processes import Server, Steward

KEY = "a-shared-secret-of-at-least-32-bytes"
NEW = "00000000-0000-0000-0000-000000000001"
DOORS = [
    ("POST", "/threads", {}),
    ("POST", "/threads/search", {}),
    ("POST", "/threads/count", {}),
    ("POST", "/threads/prune", {"thread_ids": [NEW]}),
    ("POST", "/assistants/search", {}),
    ("POST", "/assistants", {"graph_id": "steward"}),
    ("POST", "/runs/wait", {"assistant_id": "steward", "input": {"messages": []}}),
    ("POST", "/runs/batch", [{"assistant_id": "steward", "input": {"messages": []}}]),
    ("POST", "/runs/crons/search", {}),
    ("PUT", "/store/items", {"namespace": ["x"], "key": "k", "value": {}}),
    ("POST", "/store/items/search", {}),
    ("POST", "/store/namespaces", {}),
    ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
    ("GET", "/users/user_123/memories", None),
    ("PUT", "/users/user_123/memories/k", {"content": "x"}),
    ("DELETE", "/users/user_123/memories/k", None),
    ("GET", "/users/user_123/export", None),
    ("DELETE", "/users/user_123", None),
    ("GET", "/costs", None),
    ("GET", "/approvals", None),
    ("POST", f"/threads/{NEW}/handback", {}),
    ("POST", "/turns/turn-x/feedback", {"rating": "good"}),
]


def script(request: Request) -> Reply:
    role = role_of(request)
    if role == "router":
        return router_reply(request, ("chat", 0.95))
    return extractor_reply(request) if role == "extractor" else Reply("好的。")


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory, module_database_url: str) -> Iterator[httpx.Client]:
    with ModelServer(script) as model:
        steward = Steward(
            tmp_path_factory.mktemp("intrusion"),
            database_url=module_database_url,
            steward_auth="jwt",
            steward_jwt_key=KEY,
            **model.settings(),
        )
        with Server(steward) as server, httpx.Client(base_url=server.url, timeout=60) as http:
            yield http


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def token(**claims: Any) -> dict[str, str]:
    return bearer(jwt.encode(claims, KEY))


def _part(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


FORGED = {
    "none at all": {},
    "no bearer": {"authorization": jwt.encode({"sub": "user_123"}, KEY)},
    "expired": token(sub="user_123", exp=int(time.time()) - 60),
    "not yet valid": token(sub="user_123", nbf=int(time.time()) + 600),
    "another key": bearer(jwt.encode({"sub": "user_123"}, "another-secret-of-at-least-32-bytes!")),
    "no algorithm": bearer(jwt.encode({"sub": "user_123"}, None, algorithm="none")),
    "no algorithm, spelt otherwise": bearer(f"{_part({'alg': 'nOnE'})}.{_part({'sub': 'user_123'})}."),
    "another algorithm": bearer(jwt.encode({"sub": "user_123"}, KEY * 2, algorithm="HS512")),
    "no signature": bearer(jwt.encode({"sub": "user_123"}, KEY).rpartition(".")[0] + "."),
    "no subject": token(role="staff"),
    "empty subject": token(sub=""),
    "a number as subject": bearer(f"{jwt.encode({'user': 1}, KEY)}"),
    "studio": {"x-auth-scheme": "langsmith", "x-api-key": "anything"},
}


@pytest.mark.parametrize("name", FORGED)
def test_no_door_opens_to_a_forged_token(http: httpx.Client, name: str) -> None:
    for method, path, body in DOORS:
        answer = http.request(method, path, json=body, headers=FORGED[name])
        assert answer.status_code == 401, (method, path, answer.text)
        assert KEY not in answer.text
        assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    "role", [["staff"], {"staff": True}, "Staff", "staff ", "admin", True, 1, None, "local"]
)
def test_only_the_plain_word_makes_staff(http: httpx.Client, role: Any) -> None:
    customer = token(sub="user_123", role=role)
    assert http.get("/users/user_456/memories", headers=customer).status_code == 403
    searched = http.post("/store/items/search", json={"namespace_prefix": []}, headers=customer)
    assert searched.status_code == 403, searched.text
    assert http.get("/users/user_123/memories", headers=customer).status_code == 200


@pytest.fixture(scope="module")
def theirs(http: httpx.Client) -> str:
    """A thread of user_123 with one turn."""
    mine = token(sub="user_123")
    thread_id = http.post("/threads", json={}, headers=mine).json()["thread_id"]
    said = {"assistant_id": "steward", "input": {"messages": [{"role": "user", "content": "我的秘密是蓝色"}]}}
    assert http.post(f"/threads/{thread_id}/runs/wait", json=said, headers=mine).status_code == 200
    return str(thread_id)


def test_a_thread_of_another_cannot_be_reached_by_any_of_its_routes(http: httpx.Client, theirs: str) -> None:
    other = token(sub="user_456")
    run = http.get(f"/threads/{theirs}/runs", headers=token(sub="user_123")).json()[0]["run_id"]
    say = {"assistant_id": "steward", "input": {"messages": [{"role": "user", "content": "我的秘密是什么"}]}}
    at = f"/threads/{theirs}"
    attempts: list[tuple[str, str, Any]] = [
        ("GET", at, None),
        ("PATCH", at, {"metadata": {"owner": "user_456"}}),
        ("DELETE", at, None),
        ("POST", f"{at}/copy", {}),
        ("GET", f"{at}/state", None),
        ("POST", f"{at}/state", {"values": {"answer": "x"}}),
        ("POST", f"{at}/state/checkpoint", {"checkpoint": {"thread_id": theirs, "checkpoint_ns": ""}}),
        ("GET", f"{at}/history", None),
        ("POST", f"{at}/history", {}),
        ("GET", f"{at}/runs", None),
        ("POST", f"{at}/runs", say),
        ("POST", f"{at}/runs/wait", say),
        ("POST", f"{at}/runs/stream", say),
        ("POST", f"{at}/runs/crons", {**say, "schedule": "* * * * *"}),
        ("GET", f"{at}/runs/{run}", None),
        ("GET", f"{at}/runs/{run}/join", None),
        ("GET", f"{at}/runs/{run}/stream", None),
        ("POST", f"{at}/runs/{run}/cancel", {}),
        ("DELETE", f"{at}/runs/{run}", None),
        ("POST", f"{at}/handback", {}),
    ]
    for method, path, body in attempts:
        answer = http.request(method, path, json=body, headers=other)
        # A stream has begun with 200 when it is refused.
        refused = answer.status_code in (403, 404, 409, 422) or "404: Thread not found" in answer.text
        assert refused, (method, path, answer.status_code, answer.text)
        assert "蓝色" not in answer.text, (method, path)
    start = {"id": 1, "method": "run.start", "params": {**say, "input": say["input"]}}
    commanded = http.post(f"{at}/commands", json=start, headers=other)
    assert '"type":"success"' not in commanded.text, commanded.text
    http.post("/runs/cancel", json={"thread_id": theirs, "run_ids": [run]}, headers=other)
    http.post("/threads/prune", json={"thread_ids": [theirs]}, headers=other)
    found = http.post("/threads/search", json={"ids": [theirs], "limit": 100}, headers=other).json()
    assert found == []
    assert http.post("/threads/count", json={"metadata": {"owner": "user_123"}}, headers=other).json() == 0
    kept = http.get(f"{at}/state", headers=token(sub="user_123")).json()
    assert kept["values"]["turn"]["user_id"] == "user_123"
    assert len(kept["values"]["messages"]) == 2


@pytest.mark.parametrize("path", ["/runs/wait", "/threads/{thread}/runs/wait"])
def test_no_body_makes_its_sender_somebody_else(http: httpx.Client, path: str) -> None:
    other = token(sub="user_456")
    thread_id = http.post("/threads", json={}, headers=other).json()["thread_id"]
    claims = {
        "user_id": "user_123",
        "langgraph_auth_user": {"identity": "user_123", "permissions": ["staff"]},
        "langgraph_auth_user_id": "user_123",
        "langgraph_auth_permissions": ["staff", "local"],
        "role": "staff",
    }
    say = {"assistant_id": "steward", "input": {"messages": [{"role": "user", "content": "我是谁"}]}}
    bodies: list[dict[str, Any]] = [
        {**say, "context": {"user_id": "user_123", "role": "staff"}},
        {**say, "config": {"configurable": claims}},
        {**say, "metadata": {"owner": "user_123", "user_id": "user_123"}},
    ]
    for body in bodies:
        answer = http.post(path.format(thread=thread_id), json=body, headers=other)
        assert answer.status_code in (200, 400, 403, 422), answer.text
        if answer.status_code == 200 and "turn" in answer.json():
            assert answer.json()["turn"]["user_id"] == "user_456"
    costs = http.get("/costs", params={"user": "user_123"}, headers=other).json()
    assert {row["key"] for row in costs["rows"]}.isdisjoint({"user_123"})


def test_a_batch_of_runs_cannot_name_the_thread_of_another(http: httpx.Client, theirs: str) -> None:
    say = {"assistant_id": "steward", "input": {"messages": [{"role": "user", "content": "再说一遍"}]}}
    config = {"configurable": {"thread_id": theirs}}
    answer = http.post("/runs/batch", json=[{**say, "config": config}], headers=token(sub="user_456"))
    wait = http.post("/runs/wait", json={**say, "config": config}, headers=token(sub="user_456"))
    assert "蓝色" not in answer.text + wait.text
    kept = http.get(f"/threads/{theirs}/state", headers=token(sub="user_123")).json()
    assert len(kept["values"]["messages"]) == 2


def test_the_protocols_beside_the_api_serve_nobody_elses_thread(http: httpx.Client, theirs: str) -> None:
    other = token(sub="user_456")
    arguments = {"messages": [{"role": "user", "content": "我的秘密是什么"}]}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    mcp = http.post(
        "/mcp",
        json={**call, "params": {"name": "steward", "arguments": arguments}},
        headers={**other, "accept": "application/json, text/event-stream"},
    )
    message = {"role": "user", "messageId": uuid4().hex, "contextId": theirs, "kind": "message"}
    parts = [{"kind": "text", "text": "我的秘密是什么"}]
    assistant = http.post("/assistants/search", json={}, headers=other).json()[0]["assistant_id"]
    a2a = http.post(
        f"/a2a/{assistant}",
        json={
            "jsonrpc": "2.0",
            "id": 1,
            "method": "message/send",
            "params": {"message": {**message, "parts": parts}},
        },
        headers={**other, "accept": "application/json"},
    )
    assert "蓝色" not in mcp.text + a2a.text
    kept = http.get(f"/threads/{theirs}/state", headers=token(sub="user_123")).json()
    assert len(kept["values"]["messages"]) == 2


def test_nobody_listens_to_a_running_turn_of_another(http: httpx.Client, theirs: str) -> None:
    heard: list[str] = []

    def listen() -> None:
        body = {"channels": ["values", "messages", "updates", "lifecycle"]}
        path = f"/threads/{theirs}/stream/events"
        with (
            suppress(httpx.HTTPError),
            http.stream("POST", path, json=body, headers=token(sub="user_456"), timeout=5) as answer,
        ):
            heard.extend(answer.iter_text())

    listener = threading.Thread(target=listen)
    listener.start()
    say = {"assistant_id": "steward", "input": {"messages": [{"role": "user", "content": "颜色是绿色"}]}}
    mine = token(sub="user_123")
    assert http.post(f"/threads/{theirs}/runs/wait", json=say, headers=mine).status_code == 200
    listener.join()
    assert "绿色" not in "".join(heard)
    assert "蓝色" not in "".join(heard)
