"""A call that the model wrote as text is read as one, and its markup is never shown."""

from __future__ import annotations

from typing import Annotated

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from pydantic import Field

from tools.declare import tool
from tools.registry import ToolRegistry
from tools.text_calls import TextCallGuard, read_text_calls, without_calls


@tool
async def order_query(
    order_id: Annotated[str, Field(description="Order number.")],
    full: Annotated[bool, Field(description="All of it.")] = False,
) -> None:
    """Look up an order."""


@tool
async def stock_query(sku: Annotated[str, Field(description="Product code.")]) -> None:
    """Look up the stock."""


@tool
async def order_list() -> None:
    """List all orders."""


REGISTRY = ToolRegistry([order_query, stock_query, order_list])
OFFERED = ["order_query", "stock_query", "order_list"]
ORDER = ("order_query", {"order_id": "A-1", "full": False})
STOCK = ("stock_query", {"sku": "S"})
CALL = '{"name": "order_query", "arguments": {"order_id": "A-1"}}'
OTHER = '{"name": "stock_query", "arguments": {"sku": "S"}}'

FORMS = [
    (CALL, [ORDER]),
    (f"\n {CALL}\n", [ORDER]),
    (f"```json\n{CALL}\n```", [ORDER]),
    (f"```\n{CALL}\n```", [ORDER]),
    (f"```json\n{CALL}", [ORDER]),
    (f"```tool_call\n{CALL}\n{OTHER}\n```", [ORDER, STOCK]),
    (f"<tool_call>\n{CALL}\n</tool_call>", [ORDER]),
    (f"<tool_call>{CALL}</tool_call>\n<tool_call>{OTHER}</tool_call>", [ORDER, STOCK]),
    (f"<tool_call>{CALL}", [ORDER]),
    (f"{CALL}\n{OTHER}", [ORDER, STOCK]),
    (f"[{CALL}, {OTHER}]", [ORDER, STOCK]),
    (f"[TOOL_CALLS] [{CALL}]", [ORDER]),
    ('[TOOL_CALLS]order_query[ARGS]{"order_id": "A-1"}', [ORDER]),
    ('<|python_tag|>{"name": "order_query", "parameters": {"order_id": "A-1"}}<|eom_id|>', [ORDER]),
    ('<function=order_query>{"order_id": "A-1"}</function>', [ORDER]),
    (
        "<tool_call>\n<function=order_query>\n<parameter=order_id>\nA-1\n</parameter>\n"
        "<parameter=full>\nfalse\n</parameter>\n</function>\n</tool_call>",
        [ORDER],
    ),
    (
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>order_query\n```json\n{"order_id": "A-1"}\n'
        "```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        [ORDER],
    ),
    ('{"function": {"name": "order_query", "arguments": "{\\"order_id\\": \\"A-1\\"}"}}', [ORDER]),
    ('{"tool_calls": [{"id": "1", "type": "function", "function": ' + CALL + "}]}", [ORDER]),
    ("{'name': 'order_query', 'arguments': {'order_id': 'A-1', 'full': False}}", [ORDER]),
    ('{"tool": "functions.order_query", "args": {"order_id": "A-1", "full": "false"}}', [ORDER]),
    ('{"order_query": {"order_id": "A-1"}}', [ORDER]),
    ('{"name": "order_list"}', [("order_list", {})]),
    (f"{CALL}}}", [ORDER]),
]

PLAIN = [
    "",
    "Your order is on its way.",
    "您的订单 A-1 已发货。",
    'As JSON: {"name": "Alice", "arguments": 3}.',
    '```json\n{"name": "Alice", "age": 3}\n```',
    "```sql\nSELECT 1\n```\nThat was it.",
    '{"result": ' + CALL + "}",
    '{"name": "no_such_tool", "arguments": {}}',
    '{"order_query": {"x": 1}}',
    '{"name": "order_query", "price": 3}',
    "a < b, [link](https://example.com), {placeholder}, `code`, ``, [1, 2], <b>bold</b>",
    '{"name": "order_qu',
    "[",
    "```",
    "<tool",
]


def calls_of(message: AIMessage | None) -> list[tuple[str, dict[str, object]]]:
    assert message is not None
    return [(call["name"], call["args"]) for call in message.tool_calls]


@pytest.mark.parametrize(("text", "calls"), FORMS)
def test_every_form_is_read_as_a_call_and_nothing_of_it_is_shown(
    text: str, calls: list[tuple[str, dict[str, object]]]
) -> None:
    message = read_text_calls(AIMessage(text, id="m"), REGISTRY, OFFERED)
    assert calls_of(message) == calls
    assert message is not None
    assert (message.text, message.id) == ("", "m")
    assert len({call["id"] for call in message.tool_calls}) == len(calls)
    assert without_calls(text, REGISTRY, OFFERED).strip() == ""


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_no_call_stays_text_to_the_letter(text: str) -> None:
    assert read_text_calls(AIMessage(text), REGISTRY, OFFERED) is None
    assert without_calls(text, REGISTRY, OFFERED) == text


def test_text_beside_a_call_is_kept_apart_from_it() -> None:
    message = read_text_calls(AIMessage(f"好的，我来查。\n```json\n{CALL}\n```\n"), REGISTRY, OFFERED)
    assert calls_of(message) == [ORDER]
    assert message is not None
    assert message.text == "好的，我来查。"


def test_a_code_block_before_a_call_does_not_hide_it() -> None:
    text = f'```json\n{{"name": "Alice"}}\n```\n```sql\nSELECT 1\n```\n\n{CALL}'
    assert calls_of(read_text_calls(AIMessage(text), REGISTRY, OFFERED)) == [ORDER]


def test_a_tool_that_is_not_offered_is_not_called() -> None:
    assert read_text_calls(AIMessage(CALL), REGISTRY, ["stock_query"]) is None


def test_an_unmistakable_call_with_faulty_arguments_goes_to_the_engine_to_be_refused() -> None:
    message = read_text_calls(AIMessage('{"name": "order_query", "arguments": {}}'), REGISTRY, OFFERED)
    assert calls_of(message) == [("order_query", {})]


@pytest.mark.parametrize("text", [CALL[:-9], f"<tool_call>{CALL[:-9]}", f"```json\n{CALL[:-9]}"])
def test_a_call_that_was_cut_off_is_neither_shown_nor_run(text: str) -> None:
    message = read_text_calls(AIMessage(text), REGISTRY, OFFERED)
    assert message is not None
    assert message.tool_calls == []
    assert [call["name"] for call in message.invalid_tool_calls] == ["order_query"]
    assert without_calls(text, REGISTRY, OFFERED) == ""


def test_markup_of_a_tag_is_never_shown_even_around_nonsense() -> None:
    text = "Well. <tool_call>never mind</tool_call> Done."
    assert without_calls(text, REGISTRY, OFFERED) == "Well. Done."
    message = read_text_calls(AIMessage(text), REGISTRY, OFFERED)
    assert message is not None
    assert (message.text, message.tool_calls, message.invalid_tool_calls) == ("Well. Done.", [], [])


def test_plain_text_is_shown_at_once() -> None:
    guard = TextCallGuard(REGISTRY, OFFERED)
    assert guard.feed("Your order ") == "Your order "
    assert guard.feed("is [here](") == "is [here]("
    assert guard.feed('x). {"price": 3') == 'x). {"price": 3'
    assert guard.feed(" <") == " "
    assert guard.feed("b>") == "<b>"


def test_the_start_of_a_call_is_held_back_until_it_is_decided() -> None:
    guard = TextCallGuard(REGISTRY, OFFERED)
    assert guard.feed('Ok. {"na') == "Ok. "
    assert guard.feed('me": "Ali') == ""
    assert guard.feed('ce"} that is her.') == '{"name": "Alice"} that is her.'
    assert guard.flush() == ""


SNIPPETS = st.sampled_from(
    [form for form, _ in FORMS] + PLAIN + [" ", "\n", "{", "`", "```", "<", "}", ",", "[{", "\\"]
)
TEXTS = st.lists(SNIPPETS, min_size=1, max_size=4).map("".join)


@settings(max_examples=300)
@given(TEXTS, st.data())
def test_a_stream_shows_the_same_whatever_its_chunks(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=12)))
    guard = TextCallGuard(REGISTRY, OFFERED)
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    shown = "".join(guard.feed(piece) for piece in pieces) + guard.flush()
    assert shown == without_calls(text, REGISTRY, OFFERED)


@settings(max_examples=100)
@given(TEXTS)
def test_one_character_at_a_time_shows_the_same_too(text: str) -> None:
    guard = TextCallGuard(REGISTRY, OFFERED)
    assert "".join(map(guard.feed, text)) + guard.flush() == without_calls(text, REGISTRY, OFFERED)


@given(st.text(alphabet='{}[]"`<>/:,\\ntolcanme_ ', max_size=60), st.integers(1, 7))
def test_random_markup_is_never_lost_unless_it_was_a_tag(text: str, size: int) -> None:
    guard = TextCallGuard(REGISTRY, OFFERED)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    shown = "".join(map(guard.feed, pieces)) + guard.flush()
    assert shown == without_calls(text, REGISTRY, OFFERED)
    if "<" not in text:
        assert shown == text
