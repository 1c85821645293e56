"""A server's tools as the engine's own, and its answers as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from mcp.types import (
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)
from structlog.testing import capture_logs

from tools.errors import BusinessError
from tools.mcp.config import ServerConfig
from tools.mcp.replies import data_of
from tools.mcp.specs import tool_specs
from tools.names import is_protocol_name
from tools.spec import Approval, ToolSpec

CRM = ServerConfig(command="crm")


async def never(tool: str, args: Mapping[str, Any], meta: Mapping[str, Any]) -> CallToolResult:
    raise AssertionError("not called in these tests")


def listed(name: str = "pay", schema: dict[str, Any] | None = None, **more: Any) -> Tool:
    return Tool(name=name, input_schema=schema or {"type": "object"}, **{"description": "Pay.", **more})


def declared(*tools: Tool, server: str = "crm", config: ServerConfig = CRM) -> list[ToolSpec]:
    return tool_specs(server, config, tools, never)


def approver(spec: ToolSpec) -> str | None:
    assert spec.approval is None or isinstance(spec.approval, Approval)
    return spec.approval and spec.approval.by


@pytest.mark.parametrize(
    ("hints", "effect", "repeats", "approved_by"),
    [
        (None, "write", False, None),
        ({"read_only_hint": True}, "read", True, None),
        ({"read_only_hint": False, "idempotent_hint": True}, "write", True, None),
        ({"destructive_hint": True}, "write", False, "customer"),
        ({"destructive_hint": True, "read_only_hint": True}, "read", True, None),
    ],
)
def test_annotations_decide_on_effect_repetition_and_approval(
    hints: dict[str, bool] | None, effect: str, repeats: bool, approved_by: str | None
) -> None:
    (spec,) = declared(listed(annotations=ToolAnnotations(**hints) if hints else None))
    assert (spec.effect, spec.can_repeat, approver(spec)) == (effect, repeats, approved_by)


def test_the_file_goes_before_what_the_server_says_of_itself() -> None:
    tool = listed(annotations=ToolAnnotations(read_only_hint=True))
    (spec,) = declared(
        tool, config=ServerConfig(command="crm", effect={"p*": "write"}, approval={"pay": "staff"})
    )
    assert (spec.effect, approver(spec)) == ("write", "staff")
    destroys = listed(annotations=ToolAnnotations(destructive_hint=True))
    (spec,) = declared(destroys, config=ServerConfig(command="crm", approval={"pay": "none"}))
    assert spec.approval is None


def test_only_results_of_reading_are_cached() -> None:
    config = ServerConfig(command="crm", cache_seconds=60)
    reads = listed("find", annotations=ToolAnnotations(read_only_hint=True))
    assert [spec.cache_seconds for spec in declared(reads, listed(), config=config)] == [60, 0]


def test_names_fit_the_protocol_and_no_two_are_alike() -> None:
    specs = declared(
        listed("get time"), listed("get_time"), listed("付款"), listed("x" * 100), server="my crm"
    )
    names = [spec.name for spec in specs]
    assert len(set(names)) == 4
    assert all(map(is_protocol_name, names))


def test_a_tool_that_cannot_be_declared_is_left_out_and_the_others_stay() -> None:
    dangling = listed("dangling", {"type": "object", "properties": {"x": {"$ref": "#/$defs/none"}}})
    huge = listed("huge", {"type": "object", "description": "x" * 30_000})
    with capture_logs() as logs:
        specs = declared(dangling, huge, listed())
    assert [spec.name for spec in specs] == ["crm__pay"]
    assert [line["tool"] for line in logs] == ["dangling", "huge"]


def test_a_servers_own_words_are_cleaned_and_bounded() -> None:
    (spec,) = declared(listed(description="Pay\x00 now. " + "x" * 5000))
    assert spec.description.startswith("Pay now.")
    assert len(spec.description) == 2001


def test_a_rule_for_a_tool_that_is_not_there_is_reported() -> None:
    with capture_logs() as logs:
        declared(listed(), config=ServerConfig(command="crm", approval={"pya": "staff"}))
    assert logs[0]["rules"] == ["pya"]


def text(words: str) -> TextContent:
    return TextContent(text=words)


@pytest.mark.parametrize(
    ("content", "structured", "data"),
    [
        ([text('{"id": 1}')], {"id": 1}, {"id": 1}),
        ([text('{"id": 1}')], None, {"id": 1}),
        ([text("sent")], None, "sent"),
        ([text("[not json")], None, "[not json"),
        ([text('{"id": 1}'), text('{"id": 2}')], None, [{"id": 1}, {"id": 2}]),
        ([text("one"), text("two")], None, "one\ntwo"),
        ([], None, ""),
        (
            [EmbeddedResource(resource=TextResourceContents(uri="file:///a.txt", text="inside"))],
            None,
            "inside",
        ),
        (
            [ImageContent(data="AAAA", mime_type="image/png")],
            {"id": 1},
            {"result": {"id": 1}, "not_shown": ["an image (image/png)"]},
        ),
    ],
)
def test_answers_become_data(content: list[Any], structured: Any, data: Any) -> None:
    assert data_of(CallToolResult(content=content, structured_content=structured)) == data


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([text("No such\x00 order.")], "No such order."),
        ([], "The tool failed and does not say why."),
        ([text("x" * 5000)], "x" * 1000 + "…"),
    ],
)
def test_an_answer_that_says_it_failed_is_a_business_error(content: list[Any], words: str) -> None:
    with pytest.raises(BusinessError) as raised:
        data_of(CallToolResult(content=content, is_error=True))
    assert str(raised.value) == words
