"""Conversations that were written with another key: told at the start and by the doctor, and in nobody else's way."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from graph.doctor import check_readiness
from graph.holder import Holder
from graph.server.console.listing import latest_conversations
from graph.server.known_threads import list_known_threads
from graph.threads import waiting_threads
from memory.encryption_health import check_encryption
from memory.errors import ConfigurationError
from tests.support.model_replies import Reply, tool_call
from tests.support.model_server import ModelServer, RoleQueues
from tests.support.tool_calls import tool
from tests.support.turns import business, talking
from tools.spec import Approval

FIRST, SECOND = "first-key-0123456789", "second-key-0123456789"


async def pay_back(args: object, context: object) -> str:
    raise AssertionError("nobody has approved it")


TOOLS = [tool("refund", pay_back, effect="write", approval=Approval("staff", "It costs money."))]


@pytest.mark.parametrize(
    ("key", "told"),
    [
        (SECOND, "1 of 1 recent conversations do not open"),
        (None, "conversation is encrypted, and no key is set"),
    ],
)
async def test_a_key_that_opens_nothing_keeps_the_agent_from_starting(
    key: str | None, told: str, database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", Reply("Hello."))
    async with talking(database_url, tmp_path, server, [], steward_encryption_key=FIRST) as talk:
        await talk.say("hello")
        settings = talk.agent.services.settings
    with pytest.raises(ConfigurationError, match=told) as caught:
        async with talking(database_url, tmp_path, server, [], steward_encryption_key=key):
            pass
    assert "set " in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    for tried, count in ((FIRST, 0), (key, 1)):
        changed = settings.model_validate({**settings.model_dump(), "steward_encryption_key": tried})
        holder = Holder(changed, business([]))
        found = await check_readiness(holder)
        await holder.close()
        assert [finding.name for finding in found] == ["encryption"] * count
        assert all(told in finding.detail for finding in found)


async def test_one_conversation_of_another_key_hides_no_other_one(
    database_url: str,
    tmp_path: Path,
    server: ModelServer,
    script: RoleQueues,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script.add("chat", tool_call("refund", {"x": 1}), tool_call("refund", {"x": 2}))
    async with talking(database_url, tmp_path, server, TOOLS) as talk:
        talk.thread_id = open_one = str(uuid4())
        await talk.say("refund it")
    async with talking(database_url, tmp_path, server, TOOLS, steward_encryption_key=FIRST) as talk:
        talk.thread_id = str(uuid4())
        await talk.say("refund it")
        services = talk.agent.services
        assert len(await waiting_threads(services)) == 2
        other = services.settings.model_validate(
            {**services.settings.model_dump(), "steward_encryption_key": SECOND}
        )
        services = type(services)(**{**vars(services), "settings": other})
        (found,) = await check_encryption(services.database, other)
        assert not found.ok
        assert [one["thread_id"] for one in await waiting_threads(services)] == [open_one]
        listed = await latest_conversations(services, "", None)
        assert [one["thread_id"] for one in listed] == [open_one]
        created: list[str] = []
        monkeypatch.setattr("graph.server.known_threads.get_client", lambda: _Client(created))
        assert await list_known_threads(services, "steward") == 1
        assert created == [open_one]


class _Client:
    """The part of the SDK's client that puts threads on the server's list."""

    def __init__(self, created: list[str]) -> None:
        self.threads = self
        self._created = created

    async def create(self, thread_id: str, **_: object) -> None:
        self._created.append(thread_id)
