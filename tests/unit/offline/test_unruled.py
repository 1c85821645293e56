"""The demo model of a business without rules looks up, never changes anything, and says what it is."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from pydantic import Field

from graph.offline.unruled import with_offline_model
from graph.shop import SHOP
from nodes.business import Business, Intent
from nodes.settings import NodeSettings
from tools.declare import tool
from tools.handoff import handoff_to_human
from tools.knowledge_search import knowledge_search
from tools.registry import ToolRegistry

Number = Annotated[str, Field(description="Its number.", examples=["B-1024"])]


@tool(effect="write")
async def cancel(booking_no: Number) -> None:
    """Cancel a booking."""


@tool
async def look(booking_no: Number) -> None:
    """Look up a booking."""


TOOLS = [cancel, look, knowledge_search("all"), handoff_to_human]
DESK = Business(
    "desk",
    "Help.",
    [
        Intent("booking", "A booking of a table.", tools=("look",), examples=("when is my table",)),
        Intent("chat", "Anything else."),
    ],
    TOOLS,
)


def model(role: Any = "chat") -> Any:
    served = with_offline_model(DESK)
    assert served.offline
    return served.offline(role, NodeSettings(_env_file=None))


async def answer(words: str, *more: Any) -> Any:
    bound = model().bind_tools(ToolRegistry(TOOLS).schemas([spec.name for spec in TOOLS]))
    return await bound.ainvoke([HumanMessage(words), *more])


def test_a_business_with_rules_keeps_them() -> None:
    assert with_offline_model(SHOP) is SHOP


@pytest.mark.parametrize("words", ["cancel B-2048 now", "取消Ｂ－２０４８", "what about b-2048?"])
async def test_what_stands_in_the_message_is_looked_up_and_never_changed(words: str) -> None:
    calls = (await answer(words)).tool_calls
    assert [(call["name"], call["args"]["booking_no"].upper()) for call in calls] == [("look", "B-2048")]


async def test_other_questions_go_to_the_documents_and_a_wish_for_a_person_to_a_person() -> None:
    assert (await answer("which days are you open?")).tool_calls[0]["name"] == "knowledge_search"
    assert (await answer("let me talk to a human")).tool_calls[0]["name"] == "handoff_to_human"


@pytest.mark.parametrize(
    ("words", "honest"), [("hello", "no rules for desk"), ("你好", "没有为 desk 编写的规则")]
)
async def test_it_says_what_it_is_and_what_it_cannot_do(words: str, honest: str) -> None:
    text = (await answer(words)).text
    assert honest in text
    assert "OPENAI_API_KEY" in text


async def test_a_result_is_told_as_it_is() -> None:
    call = await answer("B-2048")
    result = ToolMessage('{"status":"ok","data":{"day":"Monday"}}', tool_call_id=call.tool_calls[0]["id"])
    assert "day: Monday" in (await answer("B-2048", call, result)).text


async def test_the_router_goes_by_words_in_common_and_by_numbers_that_can_be_looked_up() -> None:
    for words, intent in (("move my table", "booking"), ("and B-1024?", "booking"), ("xyz", "chat")):
        found = await model("router").ainvoke([HumanMessage(f"<message>\n{words}\n</message>")])
        assert f'"name": "{intent}"' in found.text
