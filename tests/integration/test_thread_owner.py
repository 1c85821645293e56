"""A thread is its customer's, embedded as well: who names another user is told, and nothing of it is stored (M11)."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.errors import InvalidInput
from tests.support.model_replies import Reply
from tests.support.model_server import ModelServer, RoleQueues
from tests.support.turns import talking


@pytest.mark.parametrize("intruder", ["user_12", "user_1234", "USER_123", "user_12_", "%"])
async def test_a_thread_is_not_served_to_another_user(
    intruder: str, module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", Reply("Hello."), Reply("Hello again."))
    async with talking(module_database_url, tmp_path, server, []) as talk:
        await talk.say("The word is tangerine.")
        before = await talk.agent.graph.aget_state(talk.config)
        with pytest.raises(InvalidInput, match="belongs to another user"):
            await talk.say("Which word was it?", user_id=intruder)
        after = await talk.agent.graph.aget_state(talk.config)
        assert after.config == before.config
        assert len(server.requests) == 1
        assert (await talk.say("And now?"))["answer"] == "Hello again."


@pytest.mark.parametrize("role", ["staff", "customer"])
async def test_who_names_no_customer_acts_for_the_one_whose_thread_it_is(
    role: str,
    module_database_url: str,
    tmp_path: Path,
    server: ModelServer,
    script: RoleQueues,
) -> None:
    script.add("chat", Reply("Hello."), Reply("Hello colleague."), Reply("Still here."))
    async with talking(module_database_url, tmp_path, server, []) as talk:
        await talk.say("Hello")
        state = await talk.say("A colleague looks in.", user_id="anonymous", role=role)
        assert state["turn"]["user_id"] == talk.user_id
        assert (await talk.say("Are you there?"))["answer"] == "Still here."
