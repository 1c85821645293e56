"""Tools of MCP servers in the whole graph: real servers over stdio and HTTP, real Postgres, a scripted endpoint."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from langgraph.types import Command

from graph import AgentContext, Settings, open_agent
from graph.doctor import examine
from graph.open import Agent
from graph.shop.business import SHOP
from memory.errors import ConfigurationError
from tests.support.mcp_server import McpServer
from tests.support.model_replies import Reply, tool_call
from tests.support.model_server import ModelServer, RoleQueues

TIME = {"command": sys.executable, "args": ["-m", "mcp_server_time", "--local-timezone", "Asia/Shanghai"]}
OWN_PROCESS = {"command": sys.executable, "args": ["-m", "tests.support.mcp_server"]}
BUSINESS = replace(SHOP, documents=None)
Open = Callable[..., Any]


@pytest.fixture
def parcels() -> Iterator[McpServer]:
    with McpServer() as server:
        yield server
        server.let_go.set()


@pytest.fixture
def settings(module_database_url: str, server: ModelServer, tmp_path: Path) -> Open:
    """Settings with these MCP servers."""

    def make(servers: dict[str, Any], **values: Any) -> Settings:
        file = tmp_path / "mcp.json"
        file.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
        given = {
            "database_url": module_database_url,
            "steward_home": tmp_path,
            "steward_routing": "off",
            "steward_review": "off",
            "steward_worker": "external",
            "steward_max_tools": 16,
            "steward_mcp": file,
            **server.settings(),
            **values,
        }
        return Settings(_env_file=None, **given)

    return make


@pytest.fixture
def conversation(settings: Open) -> Open:
    @asynccontextmanager
    async def opened(servers: dict[str, Any], **values: Any) -> AsyncIterator[Conversation]:
        async with open_agent(settings(servers, **values), BUSINESS) as agent:
            await agent.services.models.warm()
            yield Conversation(agent)

    return opened


class Conversation:
    """A customer whose model calls the tools that the script names."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.config = {"configurable": {"thread_id": uuid4().hex}}
        self.context = AgentContext(user_id="user_123")

    async def say(self, words: str = "ABC-1?") -> dict[str, Any]:
        state: dict[str, Any] = await self.agent.graph.ainvoke(
            {"messages": [("user", words)]}, self.config, context=self.context
        )
        return state

    async def decide(self, kind: str) -> dict[str, Any]:
        decisions = Command(resume={"decisions": [{"type": kind}]})
        state: dict[str, Any] = await self.agent.graph.ainvoke(decisions, self.config, context=self.context)
        return state

    @property
    def tools(self) -> list[str]:
        return [spec.name for spec in self.agent.services.engine.registry]


def results(state: dict[str, Any]) -> list[dict[str, Any]]:
    """Envelopes of the tool calls of a conversation."""
    return [json.loads(message.content) for message in state["messages"] if message.type == "tool"]


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_a_published_server_over_stdio_answers_through_the_graph(
    conversation: Open, script: RoleQueues, server: ModelServer
) -> None:
    args = {"source_timezone": "Asia/Shanghai", "time": "14:30", "target_timezone": "Europe/London"}
    script.add("chat", tool_call("time__convert_time", args), Reply("It is in the morning there."))
    async with conversation({"time": TIME}) as customer:
        await until(lambda: "time__convert_time" in customer.tools)
        state = await customer.say("14:30 in Shanghai, when is that in London?")
    (result,) = results(state)
    assert result["status"] == "ok"
    assert result["data"]["source"]["timezone"] == "Asia/Shanghai"
    offered = [tool["function"]["name"] for tool in server.requests_of("chat")[0]["tools"]]
    assert offered[-2:] == ["time__get_current_time", "time__convert_time"]
    assert offered[0] == "order_query"


async def test_a_call_over_http_comes_back_in_the_envelope(
    conversation: Open, script: RoleQueues, parcels: McpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARCELS_TOKEN", "s3cret-token")
    headers = {"Authorization": "Bearer ${PARCELS_TOKEN}"}
    script.add("chat", tool_call("parcels__find_parcel", {"order_id": "ABC-1"}), Reply("Suzhou."))
    async with conversation({"parcels": {"url": parcels.url, "headers": headers}}) as customer:
        state = await customer.say()
        assert "parcels__undocumented" not in customer.tools
    assert results(state) == [{"status": "ok", "data": {"order_id": "ABC-1", "place": "Suzhou"}}]
    assert set(parcels.headers) == {"Bearer s3cret-token"}


async def test_arguments_that_do_not_fit_never_reach_the_server(
    conversation: Open, script: RoleQueues, parcels: McpServer
) -> None:
    wrong = [{"order_id": "ABC-1", "colour": "red"}, {"order_id": ["ABC-1"]}, {}]
    script.add("chat", *[tool_call("parcels__find_parcel", args) for args in wrong], Reply("Sorry."))
    async with conversation({"parcels": {"url": parcels.url}}) as customer:
        state = await customer.say()
    kinds = [result["error_kind"] for result in results(state)]
    assert kinds == ["invalid_arguments", "invalid_arguments", "missing_argument"]
    assert parcels.calls == []


async def test_a_tool_that_says_it_failed_is_a_business_error(
    conversation: Open, script: RoleQueues, parcels: McpServer
) -> None:
    script.add("chat", tool_call("parcels__find_nothing", {"order_id": "ABC-1"}), Reply("There is none."))
    async with conversation({"parcels": {"url": parcels.url}}) as customer:
        (result,) = results(await customer.say())
    assert (result["status"], result["error_kind"]) == ("error", "business")
    assert "There is no parcel for ABC-1." in result["error_desc"]
    assert len(parcels.calls) == 1


async def test_what_a_model_cannot_read_is_named(
    conversation: Open, script: RoleQueues, parcels: McpServer
) -> None:
    script.add("chat", tool_call("parcels__photograph", {"order_id": "ABC-1"}), Reply("A box."))
    async with conversation({"parcels": {"url": parcels.url}}) as customer:
        (result,) = results(await customer.say())
    assert result["data"] == {"result": "A brown box.", "not_shown": ["an image (image/png)"]}


async def test_a_call_that_takes_too_long_is_cancelled_at_the_server(
    conversation: Open, script: RoleQueues, parcels: McpServer
) -> None:
    script.add("chat", tool_call("parcels__wait_for_parcel", {"order_id": "ABC-1"}), Reply("Not yet."))
    servers = {"parcels": {"url": parcels.url, "timeout": 0.5}}
    async with conversation(servers, steward_tool_attempts=1) as customer:
        (result,) = results(await customer.say())
        assert await asyncio.to_thread(parcels.cut_off.wait, 5)
    assert result["error_kind"] == "timeout"


async def test_what_destroys_waits_for_the_customer_and_runs_once(
    conversation: Open, script: RoleQueues, parcels: McpServer
) -> None:
    script.add("chat", tool_call("parcels__destroy_parcel", {"order_id": "ABC-1"}), Reply("Done."))
    async with conversation({"parcels": {"url": parcels.url}}) as customer:
        waiting = await customer.say()
        assert parcels.calls == []
        (request,) = waiting["__interrupt__"][0].value["action_requests"]
        assert request["name"] == "parcels__destroy_parcel"
        settled = await customer.decide("approve")
    assert [result["status"] for result in results(settled)] == ["ok"]
    assert parcels.calls == [("destroy_parcel", {"order_id": "ABC-1"})]


async def test_the_file_decides_who_approves(
    conversation: Open, script: RoleQueues, parcels: McpServer
) -> None:
    calls = [("parcels__book_pickup", "staff"), ("parcels__destroy_parcel", "none")]
    script.add("chat", *[tool_call(name, {"order_id": "ABC-1"}) for name, _ in reversed(calls)], Reply("Ok."))
    rules = {"book_*": "staff", "destroy_parcel": "none"}
    async with conversation({"parcels": {"url": parcels.url, "approval": rules}}) as customer:
        waiting = await customer.say()
        (request,) = waiting["__interrupt__"][0].value["action_requests"]
    assert request["name"] == "parcels__book_pickup"
    assert [name for name, _ in parcels.calls] == ["destroy_parcel"]


async def test_a_side_effect_carries_its_key_and_is_in_doubt_when_the_server_dies_under_it(
    conversation: Open, script: RoleQueues, parcels: McpServer
) -> None:
    booked = [tool_call("parcels__book_pickup", {"order_id": each}) for each in ("ABC-1", "SLOW-1")]
    script.add("chat", *booked, Reply("I cannot tell."))
    async with conversation({"parcels": {"url": parcels.url}}) as customer:
        turn = asyncio.create_task(customer.say("ABC-1, SLOW-1"))
        assert await asyncio.to_thread(parcels.seen.wait, 10)
        await asyncio.to_thread(parcels.stop)
        done, lost = results(await turn)
    assert done["status"] == "ok"
    assert lost["error_kind"] == "in_doubt"
    assert [args["order_id"] for _, args in parcels.calls] == ["ABC-1", "SLOW-1"]
    assert all(args["key"] for _, args in parcels.calls)


async def test_a_server_that_goes_and_comes_back_is_used_again(
    conversation: Open, script: RoleQueues, parcels: McpServer
) -> None:
    ask = tool_call("parcels__find_parcel", {"order_id": "ABC-1"})
    script.add("chat", ask, Reply("Suzhou."), ask, Reply("Not now."), ask, Reply("Suzhou."))
    async with conversation({"parcels": {"url": parcels.url}}, steward_tool_attempts=1) as customer:
        await customer.say()
        await asyncio.to_thread(parcels.stop)
        await customer.say()
        await asyncio.to_thread(parcels.start)
        before, down, after = results(await customer.say())
    assert before["status"] == after["status"] == "ok"
    assert (down["error_kind"], down["retryable"]) == ("unavailable", True)


async def test_a_side_effect_that_never_left_is_not_in_doubt(
    conversation: Open, script: RoleQueues, parcels: McpServer
) -> None:
    script.add("chat", tool_call("parcels__book_pickup", {"order_id": "ABC-1"}), Reply("Not now."))
    async with conversation({"parcels": {"url": parcels.url}}) as customer:
        await asyncio.to_thread(parcels.stop)
        (result,) = results(await customer.say())
    assert (result["error_kind"], result["retryable"]) == ("unavailable", True)


async def test_a_session_that_the_server_forgot_is_opened_anew_under_the_same_call(
    conversation: Open, script: RoleQueues
) -> None:
    book = [tool_call("parcels__book_pickup", {"order_id": each}) for each in ("ABC-1", "ABC-2")]
    script.add("chat", book[0], Reply("Booked."), book[1], Reply("Booked."))
    with McpServer(sessions=True) as parcels:
        async with conversation({"parcels": {"url": parcels.url}}) as customer:
            await customer.say("ABC-1")
            await asyncio.to_thread(parcels.stop)
            await asyncio.to_thread(parcels.start)
            state = await customer.say("ABC-2")
    assert [result["status"] for result in results(state)] == ["ok", "ok"]
    assert [args["order_id"] for _, args in parcels.calls] == ["ABC-1", "ABC-2"]


async def test_a_process_that_dies_during_a_call_is_started_again(
    conversation: Open, script: RoleQueues
) -> None:
    again = tool_call("own__find_parcel", {"order_id": "ABC-1"})
    script.add("chat", tool_call("own__end_process", {}), again, Reply("Suzhou."))
    async with conversation({"own": OWN_PROCESS}, steward_tool_attempts=1) as customer:
        await until(lambda: "own__find_parcel" in customer.tools)
        died, found = results(await customer.say())
    assert died["error_kind"] == "unavailable"
    assert found == {"status": "ok", "data": {"order_id": "ABC-1", "place": "Suzhou"}}


async def test_a_server_that_is_down_at_the_start_joins_later(
    conversation: Open, script: RoleQueues, parcels: McpServer
) -> None:
    parcels.stop()
    script.add(
        "chat", Reply("Hello."), tool_call("parcels__find_parcel", {"order_id": "ABC-1"}), Reply("Suzhou.")
    )
    async with conversation({"parcels": {"url": parcels.url}}) as customer:
        assert (await customer.say("Hello"))["answer"] == "Hello."
        await asyncio.to_thread(parcels.start)
        await until(lambda: "parcels__find_parcel" in customer.tools)
        (result,) = results(await customer.say())
    assert result["status"] == "ok"


async def test_the_doctor_names_each_server_and_what_is_wrong(
    settings: Open, parcels: McpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "s3cret-token")
    down = {"command": "no-such-program", "args": ["${SECRET}"], "env": {"TOKEN": "${SECRET}"}}
    found = await examine(settings({"parcels": {"url": parcels.url}, "down": down}), SHOP)
    findings = {finding.name: finding for finding in found if finding.name.startswith("MCP")}
    assert findings["MCP server parcels"].ok
    assert findings["MCP server parcels"].detail == "9 tools; 1 cannot be offered"
    assert not findings["MCP server down"].ok
    assert "s3cret-token" not in str(found)


async def test_an_intent_that_the_business_has_not_stops_the_opening(conversation: Open) -> None:
    with pytest.raises(ConfigurationError, match=r"mcpServers\.time\.intents: there is no intent 'orders'"):
        async with conversation({"time": {**TIME, "intents": ["orders"]}}):
            pass


async def test_only_the_intents_that_the_file_names_offer_the_tools(
    conversation: Open, script: RoleQueues, server: ModelServer, parcels: McpServer
) -> None:
    script.add("chat", Reply("Hello."))
    async with conversation({"parcels": {"url": parcels.url, "intents": ["logistics"]}}) as customer:
        await customer.say("Hello")
        registry = customer.agent.services.engine.registry
        assert "parcels__find_parcel" in registry.offered_by("logistics")
    offered = [tool["function"]["name"] for tool in server.requests_of("chat")[0]["tools"]]
    assert not [name for name in offered if name.startswith("parcels__")]


async def test_an_argument_that_the_file_grounds_is_refused_where_nobody_gave_it(
    conversation: Open, script: RoleQueues, parcels: McpServer
) -> None:
    rules = {
        "grounded": {"find_*": {"order_id": "identifier"}},
        "identifiers": {"list_parcels": ["parcels[].order_id"]},
    }
    script.add(
        "chat",
        tool_call("parcels__list_parcels", {}),
        tool_call("parcels__find_parcel", {"order_id": "OTHER-88"}),
        tool_call("parcels__find_parcel", {"order_id": "OWN-77"}),
        Reply("Suzhou."),
    )
    async with conversation({"parcels": {"url": parcels.url, **rules}}) as customer:
        listed, refused, found = results(await customer.say("Where is my parcel?"))
    assert listed["status"] == "ok"
    assert refused["error_kind"] == "ungrounded_argument"
    assert found["data"]["place"] == "Suzhou"
    assert parcels.calls == [("find_parcel", {"order_id": "OWN-77"})]


@pytest.mark.parametrize("sessions", [False, True])
async def test_a_tool_that_a_server_learns_later_joins_without_a_new_session(
    conversation: Open, script: RoleQueues, sessions: bool
) -> None:
    script.add("chat", tool_call("parcels__learn", {}), Reply("Learnt."))
    with McpServer(sessions=sessions) as parcels:
        async with conversation({"parcels": {"url": parcels.url}}) as customer:
            assert "parcels__news" not in customer.tools
            await customer.say("learn something")
            await until(lambda: "parcels__news" in customer.tools)
