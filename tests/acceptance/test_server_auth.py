"""With STEWARD_AUTH=jwt the user comes from the token, and everybody else's data do not exist."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator
from typing import Any
from uuid import uuid4

import httpx
import jwt
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import APIStatusError

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

KEY = "a-shared-secret-of-at-least-32-bytes"
RETURN = {"order_id": "GHI-20240512-003", "issue_desc": "杯子碎了，要求退货", "contact": "13800138123"}
WORDS = "订单 GHI-20240512-003 的杯子碎了，我要退货，电话 13800138123"


def script(request: Request) -> Reply:
    role = role_of(request)
    text = str(request["messages"][-1]["content"])
    if role == "router":
        return router_reply(request, ("aftersale" if "碎" in text else "chat", 0.95))
    if role == "extractor":
        return extractor_reply(request)
    if role == "reviewer":
        return reviewer_reply(request)
    asked = request["messages"][-1]["role"] == "user" and "碎" in text
    return tool_call("aftersale_create", RETURN) if asked else Reply("好的。")


@pytest.fixture(scope="module")
def steward(tmp_path_factory: pytest.TempPathFactory, module_database_url: str) -> Iterator[Steward]:
    with ModelServer(script) as model:
        yield Steward(
            tmp_path_factory.mktemp("auth"),
            database_url=module_database_url,
            steward_auth="jwt",
            steward_jwt_key=KEY,
            steward_local_router="off",
            **model.settings(),
        )


@pytest.fixture(scope="module")
def server(steward: Steward) -> Iterator[Server]:
    with Server(steward) as server:
        yield server


def token(user: str, **claims: Any) -> dict[str, str]:
    return {"authorization": f"Bearer {jwt.encode({'sub': user, **claims}, KEY)}"}


def client_of(server: Server, user: str, **claims: Any) -> LangGraphClient:
    return get_client(url=server.url, headers=token(user, **claims))


def ask(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


async def refusal(attempt: Awaitable[Any]) -> int:
    """The status with which the server refuses; 200 where it does not."""
    try:
        await attempt
    except (APIStatusError, httpx.HTTPStatusError) as error:
        return error.response.status_code
    return 200


async def test_without_a_valid_token_nothing_is_served(server: Server) -> None:
    async with httpx.AsyncClient(base_url=server.url) as http:
        for headers in ({}, {"authorization": "Bearer nonsense"}, {"x-auth-scheme": "langsmith"}):
            for path in ("/users/user_123/memories", "/approvals", "/costs"):
                assert (await http.get(path, headers=headers)).status_code == 401, (headers, path)
            assert (await http.post("/threads/search", headers=headers, json={})).status_code == 401
        assert (await http.get("/health")).status_code == 200


async def test_the_user_is_the_tokens_whatever_the_body_says(server: Server) -> None:
    client = client_of(server, "user_123")
    thread_id = (await client.threads.create())["thread_id"]
    state = await client.runs.wait(
        thread_id, "steward", input=ask("你好"), context={"user_id": "user_456", "role": "staff"}
    )
    assert state["turn"]["user_id"] == "user_123"


async def test_threads_of_others_do_not_exist(server: Server) -> None:
    mine, theirs = client_of(server, "user_123"), client_of(server, "user_456")
    thread_id = (await mine.threads.create())["thread_id"]
    await mine.runs.wait(thread_id, "steward", input=ask("你好"))
    assert thread_id in [thread["thread_id"] for thread in await mine.threads.search(limit=100)]
    assert thread_id not in [thread["thread_id"] for thread in await theirs.threads.search(limit=100)]
    for attempt in (
        theirs.threads.get(thread_id),
        theirs.threads.get_state(thread_id),
        theirs.threads.get_history(thread_id),
        theirs.threads.delete(thread_id),
        theirs.threads.copy(thread_id),
        theirs.runs.wait(thread_id, "steward", input=ask("我是谁")),
        theirs.runs.list(thread_id),
    ):
        assert await refusal(attempt) in (403, 404, 409)


async def test_a_thread_begun_elsewhere_cannot_be_claimed(server: Server, steward: Steward) -> None:
    thread_id = str(uuid4())
    await asyncio.to_thread(steward.chat, "你好", "--thread", thread_id)
    theirs = client_of(server, "user_456")
    assert await refusal(theirs.threads.create(thread_id=thread_id)) == 404
    run = theirs.runs.wait(thread_id, "steward", input=ask("接着说"), if_not_exists="create")
    assert await refusal(run) == 404
    mine = client_of(server, "user_123")
    state = await mine.runs.wait(thread_id, "steward", input=ask("接着说"), if_not_exists="create")
    assert [m["content"] for m in state["messages"] if m["type"] == "human"] == ["你好", "接着说"]


async def test_a_customer_cannot_go_round_the_guards(server: Server) -> None:
    client = client_of(server, "user_123")
    thread_id = (await client.threads.create())["thread_id"]
    state = await client.runs.wait(thread_id, "steward", input=ask(WORDS))
    assert state["__interrupt__"]
    approve = {"decisions": [{"type": "approve"}]}
    attempts = (
        client.threads.update_state(thread_id, {"approvals": []}),
        client.threads.update(thread_id, metadata={"owner": "user_456"}),
        client.runs.wait(thread_id, "steward", command={"update": {"approvals": []}, "resume": approve}),
        client.runs.wait(thread_id, "steward", command={"goto": "execute_tools"}),
        client.runs.wait(thread_id, "steward", input={"messages": [], "approvals": []}),
        client.runs.wait(thread_id, "steward", input=ask("x"), webhook="http://127.0.0.1:9/"),
    )
    for attempt in attempts:
        assert await refusal(attempt) in (403, 404, 422)
    still = await client.runs.wait(thread_id, "steward", command={"resume": approve})
    assert still["__interrupt__"], "a customer has settled what waits for staff"
    staff = client_of(server, "boss", role="staff")
    settled = await staff.runs.wait(
        thread_id, "steward", command={"resume": approve}, context={"user_id": "user_123"}
    )
    assert settled["tool_calls"][-1]["status"] == "ok"
    assert settled["turn"]["user_id"] == "user_123"


async def test_memories_costs_and_approvals_of_others_are_out_of_reach(server: Server) -> None:
    client = client_of(server, "user_123")
    thread_id = (await client.threads.create())["thread_id"]
    state = await client.runs.wait(thread_id, "steward", input=ask(WORDS))
    assert state["__interrupt__"]
    async with httpx.AsyncClient(base_url=server.url) as http:
        mine, theirs = token("user_123"), token("user_456")
        staff = token("boss", role="staff")

        async def listed(headers: dict[str, str]) -> list[str]:
            found = (await http.get("/approvals", headers=headers)).json()["approvals"]
            return [one["thread_id"] for one in found]

        assert thread_id in await listed(mine)
        assert thread_id in await listed(staff)
        assert thread_id not in await listed(theirs)
        memory = {"content": "周六送货"}
        path = "/users/user_123/memories/delivery_day"
        assert (await http.put(path, headers=theirs, json=memory)).status_code == 403
        assert (await http.put(path, headers=mine, json=memory)).status_code == 200
        for refused in ("/users/user_123/memories", path, "/users/user_123/export"):
            assert (await http.get(refused, headers=theirs)).status_code == 403
            assert (await http.get(refused, headers=staff)).status_code == 200
        assert (await http.delete("/users/user_123", headers=theirs)).status_code == 403
        costs = {"thread": thread_id, "user": "user_123"}
        assert (await http.get("/costs", headers=theirs, params=costs)).json()["rows"] == []
        # a turn that waits is booked a moment later
        await asyncio.to_thread(
            wait_until,
            lambda: bool(httpx.get(f"{server.url}/costs", headers=mine, params=costs).json()["rows"]),
        )
        assert (await http.post(f"/threads/{thread_id}/handback", headers=mine)).status_code == 403
        turn = state["turn"]["id"]
        good = {"rating": "good"}
        assert (await http.post(f"/turns/{turn}/feedback", headers=theirs, json=good)).status_code == 404
        assert (await http.post(f"/turns/{turn}/feedback", headers=mine, json=good)).status_code == 201


async def test_stores_crons_and_assistants_are_not_for_customers(server: Server) -> None:
    client = client_of(server, "user_123")
    for attempt in (
        client.store.put_item(["x"], "k", {"v": 1}),
        client.store.search_items([]),
        client.crons.create("steward", schedule="* * * * *", input=ask("hi")),
        client.assistants.create("steward", context={"user_id": "user_456"}),
    ):
        assert await refusal(attempt) == 403
    assert [one["graph_id"] for one in await client.assistants.search()] == ["steward"]
