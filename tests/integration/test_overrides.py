"""What a run sets otherwise is in force for that run alone, and the turn says so (G3, O5)."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from graph import AgentContext
from tests.support.model_replies import Reply, reviewer_reply, router_reply, tool_call
from tests.support.model_server import ModelServer, RoleQueues
from tests.support.tool_calls import returning, tool
from tests.support.turns import talking

TOOLS = [
    tool("look", returning({"rows": [f"row {number} {'x' * 80}" for number in range(200)]})),
    tool("glance", returning({"row": 1})),
]


async def test_an_edited_prompt_model_and_temperature_reach_the_endpoint_in_that_run_only(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("another-model", Reply("Yes."))
    script.add("chat", Reply("No."))
    async with talking(module_database_url, tmp_path, server, TOOLS) as talk:
        state = await talk.say(
            "hello",
            system_prompt='You serve {business}. Answer {"like": "this"}.\n{instructions}',
            instructions="Speak of the weather.",
            chat_model="another-model",
            chat_temperature=1.5,
        )
        (asked,) = server.requests_of("another-model")
        assert (
            asked["messages"][0]["content"]
            == 'You serve small. Answer {"like": "this"}.\nSpeak of the weather.'
        )
        assert asked["temperature"] == 1.5
        versions = state["turn"]["versions"]
        assert versions["models"]["chat"] == "another-model"
        assert set(versions["overrides"]) == {
            "system_prompt",
            "instructions",
            "chat_model",
            "chat_temperature",
        }
        assert versions["overrides"]["chat_temperature"] == "1.5"
        state = await talk.say("and now?")
        (asked,) = server.requests_of("chat")
        assert "customer-service agent of small" in asked["messages"][0]["content"]
        assert "overrides" not in state["turn"]["versions"]


async def test_edited_limits_end_a_turn(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", tool_call("glance", {"x": 1}), Reply("That is all I found."))
    async with talking(module_database_url, tmp_path, server, TOOLS) as talk:
        state = await talk.say("look", max_tool_calls=1)
    assert state["stopped_because"] == "tool_calls"


async def test_the_small_roles_use_the_prompts_and_models_of_the_run(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("small-router", lambda request: router_reply(request, ("chat", 0.95)))
    script.add("chat", tool_call("look", {"x": 1}), Reply("Two hundred rows."))
    script.add("small-compactor", Reply('{"digest": {"rows": 200}}'))
    settings = {"steward_routing": "off", "steward_result_tokens": 200}
    async with talking(module_database_url, tmp_path, server, TOOLS, **settings) as talk:
        await talk.say(
            "look",
            routing="on",
            router_prompt="ROUTER of {business}: {intents}",
            router_model="small-router",
            compactor_prompt="COMPACTOR of {tool}, {budget} tokens",
            compactor_model="small-compactor",
        )
        (routed,) = server.requests_of("small-router")
        assert routed["messages"][0]["content"].startswith("ROUTER of small: - chat: Anything.")
        (digested,) = server.requests_of("small-compactor")
        assert digested["messages"][0]["content"].startswith("COMPACTOR of look, ")


async def test_the_reviewer_uses_the_prompt_of_the_run_where_the_run_switches_reviews_on(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", Reply("Your refund is on its way."))
    script.add("r2", reviewer_reply)
    async with talking(module_database_url, tmp_path, server, TOOLS, reviewed=True) as talk:
        state = await talk.say(
            "hello", review="on", reviewer_prompt="REVIEWER {checklist}", reviewer_model="r2"
        )
        (asked,) = server.requests_of("r2")
        assert asked["messages"][0]["content"] == "REVIEWER - Be kind."
        assert state["review"]["verdict"] == "ORIGINAL_ANSWER"


@pytest.mark.parametrize(
    "given",
    [{"max_model_calls": 0}, {"review_rounds": 4}, {"routing": "maybe"}, {"system_prompt": "x" * 20_001}],
)
def test_what_is_out_of_bounds_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        AgentContext.model_validate(given)
