"""What callers hand in as a turn: mostly messages with odd texts, now and then something that is no message."""

from __future__ import annotations

from random import Random
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage

from bench.fuzz.texts import SAID, any_text

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
VALUES: tuple[Any, ...] = (
    None,
    5,
    1.5,
    True,
    b"\xff",
    {},
    [],
    {"a": 1},
    object(),
    "x",
    float("nan"),
    ("user",),
)


def make_input(chance: Random) -> Any:
    """An input as `ainvoke` takes it, or should refuse it."""
    if chance.random() < 0.1:
        return chance.choice([None, "hello", 5, {}, [], {"messages": None}, {"nonsense": "x"}])
    count = 1 if chance.random() < 0.9 else chance.randint(0, 4)
    return {"messages": [_message(chance) for _ in range(count)]}


def _message(chance: Random) -> Any:
    content = _content(chance)
    kind = chance.random()
    if kind < 0.5:
        return ("user", content)
    if kind < 0.65:
        return {"role": "user", "content": content, "id": _id(chance)}
    if kind < 0.85:
        try:
            extras = {"background": any_text(chance)} if chance.random() < 0.2 else {}
            return HumanMessage(content, id=_id(chance), name=any_text(chance), additional_kwargs=extras)
        except ValueError:
            return content
    if kind < 0.95:
        text = any_text(chance)
        return chance.choice(
            [AIMessage(text), SystemMessage(text), ToolMessage(text, tool_call_id="x"), RemoveMessage(id="x")]
        )
    return chance.choice([*VALUES, {"type": "constructor", "lc": 1}, {"role": "nobody", "content": "x"}])


def _content(chance: Random) -> Any:
    kind = chance.random()
    if kind < 0.75:
        return any_text(chance, 200)
    if kind < 0.78:
        return chance.choice(["x" * 100_001, "退" * 100_000, "\x00" * 200_000, "a\ud800" * 60_000])
    if kind < 0.95:
        parts: list[Any] = [
            IMAGE,
            {"type": "text", "text": any_text(chance)},
            any_text(chance),
            {},
            {"type": "text"},
        ]
        return [chance.choice(parts) for _ in range(chance.randint(0, 3))]
    return chance.choice(VALUES)


def _id(chance: Random) -> Any:
    return chance.choice([None, None, "m1", "", "x" * 300, *SAID[:6], any_text(chance), 7])
