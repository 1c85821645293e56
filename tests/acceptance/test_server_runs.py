"""Runs that meet on one thread of the dev server: sent twice, queued, refused, interrupted, rolled back, cut off."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_core.messages import HumanMessage
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from graph import Settings, open_agent
from tests.support.cut_off import announce
from tests.support.model_replies import Reply, Request, extractor_reply, router_reply
from tests.support.model_server import ModelServer, role_of
from tests.support.processes import Server, Steward, wait_until

USER = {"user_id": "user_123"}


def script(request: Request) -> Reply:
    """Says what it was asked; a "slow" question is answered after a while, an "endless" one never."""
    role = role_of(request)
    text = said(request)
    if role == "router":
        return router_reply(request, ("chat", 0.95))
    if role == "extractor":
        return extractor_reply(request)
    return Reply(f"re: {text}", delay=60 if "endless" in text else 1 if "slow" in text else 0)


def said(request: Request) -> str:
    return str(request["messages"][-1]["content"]).partition("<customer_message>\n")[2].partition("\n")[0]


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer(script) as model:
        yield model


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, module_database_url: str, model: ModelServer
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    steward = Steward(
        folder, database_url=module_database_url, steward_local_router="off", **model.settings()
    )
    with Server(steward) as server:
        yield server


@pytest.fixture
def client(server: Server) -> LangGraphClient:
    return get_client(url=server.url)


class Thread:
    """A thread of the server, and how often the model was asked for its messages."""

    def __init__(self, client: LangGraphClient, model: ModelServer, thread_id: str) -> None:
        self._client, self._model, self.id = client, model, thread_id

    async def start(self, text: str, id: str | None = None, **options: Any) -> Any:
        given = {"messages": [{"role": "user", "content": text, **({"id": id} if id else {})}]}
        return await self._client.runs.create(self.id, "steward", input=given, context=USER, **options)

    async def ended(self, run: Any) -> str:
        """How the run ended, once it has."""
        await self._client.runs.join(self.id, run["run_id"])
        return str((await self._client.runs.get(self.id, run["run_id"]))["status"])

    async def asked(self, text: str) -> None:
        await asyncio.to_thread(wait_until, lambda: self.times_asked(text) > 0)

    def times_asked(self, text: str) -> int:
        return sum(said(request) == text for request in self._model.requests_of("chat"))

    async def conversation(self) -> list[str]:
        state = await self._client.threads.get_state(self.id)
        return [message["content"] for message in state["values"]["messages"]]


@pytest.fixture
async def thread(client: LangGraphClient, model: ModelServer) -> Thread:
    return Thread(client, model, (await client.threads.create())["thread_id"])


async def test_a_message_that_is_sent_twice_is_served_once(thread: Thread) -> None:
    runs = [await thread.start("slow and twice", "m1") for _ in range(2)]
    assert [await thread.ended(run) for run in runs] == ["success", "success"]
    await thread.ended(await thread.start("more", "m2"))
    late = await thread.start("slow and twice", "m1")
    assert await thread.ended(late) == "success"
    assert await thread.conversation() == ["slow and twice", "re: slow and twice", "more", "re: more"]
    assert thread.times_asked("slow and twice") == 1


async def test_a_message_that_is_sent_again_is_answered_to_who_waits(
    thread: Thread, client: LangGraphClient
) -> None:
    await thread.ended(await thread.start("first", "m1"))
    await thread.ended(await thread.start("second", "m2"))
    given = {"messages": [{"role": "user", "content": "first", "id": "m1"}]}
    state = await client.runs.wait(thread.id, "steward", input=given, context=USER)
    assert state["answer"] == "re: first"
    parts = client.runs.stream(
        thread.id, "steward", input=given, context=USER, stream_mode=["messages-tuple"]
    )
    spoken = [part.data[0]["content"] async for part in parts if part.event == "messages"]
    assert spoken == ["re: first"]


async def test_a_queued_run_waits_for_its_turn(thread: Thread) -> None:
    runs = [await thread.start(f"slow {n}", multitask_strategy="enqueue") for n in range(2)]
    assert [await thread.ended(run) for run in runs] == ["success", "success"]
    assert await thread.conversation() == ["slow 0", "re: slow 0", "slow 1", "re: slow 1"]


async def test_a_run_that_does_not_want_to_wait_is_refused(thread: Thread) -> None:
    first = await thread.start("slow")
    with pytest.raises(httpx.HTTPStatusError) as refused:
        await thread.start("impatient", multitask_strategy="reject")
    assert refused.value.response.status_code == 409
    assert await thread.ended(first) == "success"
    assert await thread.conversation() == ["slow", "re: slow"]


async def test_a_run_that_interrupts_leaves_the_message_before_it_standing(thread: Thread) -> None:
    first = await thread.start("endless interrupted")
    await thread.asked("endless interrupted")
    second = await thread.start("in a hurry", multitask_strategy="interrupt")
    assert await thread.ended(second) == "success"
    assert await thread.ended(first) == "interrupted"
    assert await thread.conversation() == ["endless interrupted", "in a hurry", "re: in a hurry"]


async def test_a_run_that_rolls_back_leaves_nothing_of_the_one_before_it(thread: Thread) -> None:
    await thread.ended(await thread.start("before"))
    await thread.start("endless rolled back")
    await thread.asked("endless rolled back")
    second = await thread.start("instead", multitask_strategy="rollback")
    assert await thread.ended(second) == "success"
    assert await thread.conversation() == ["before", "re: before", "instead", "re: instead"]


async def test_what_is_no_message_fails_its_run_in_one_sentence_and_the_thread_goes_on(
    thread: Thread, client: LangGraphClient
) -> None:
    for given in ({"messages": [5]}, {"messages": []}, {"messages": [{"role": "user", "content": {"a": 1}}]}):
        with pytest.raises(Exception, match="A turn begins with the customer's message") as failed:
            await client.runs.wait(thread.id, "steward", input=given, context=USER)
        assert "Traceback" not in str(failed.value)
    assert await thread.ended(await thread.start("hello")) == "success"
    assert await thread.conversation() == ["hello", "re: hello"]


async def test_a_message_whose_run_was_killed_before_its_first_step_is_served_with_the_next(
    thread: Thread, module_database_url: str, tmp_path: Path, model: ModelServer
) -> None:
    values = {"database_url": module_database_url, "steward_home": tmp_path, "steward_worker": "external"}
    async with open_agent(Settings(_env_file=None, **values, **model.settings())) as agent:
        await announce(agent.graph, thread.id, HumanMessage("cut off", id="m1"))
    assert await thread.ended(await thread.start("next", "m2")) == "success"
    assert await thread.conversation() == ["cut off", "next", "re: next"]
