"""The engine's own tool: read a part of a result that was too large to be shown (T10)."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from tools.declare import tool
from tools.envelope import dump
from tools.errors import BusinessError
from tools.ledger import stored_result
from tools.paths import values
from tools.reduce import Count, fits, reduce
from tools.spec import JSON, ToolContext, ToolSpec

READ_RESULT: Final = "read_result"
_FRAME_TOKENS: Final = 90
"""What the part's description and the envelope take beside the part."""
_SAMPLE_FIELDS: Final = 20

Ref = Annotated[str, Field(description="The `ref` that a result gives.")]
Path = Annotated[
    str,
    Field(description="What to read, such as `orders[3].items` or `[].id`; empty for all."),
]
Where = Annotated[
    str,
    Field(description="Only list elements that match: `field=value`, or `field~part`."),
]
Offset = Annotated[int, Field(ge=0, description="First element, or character of a text.")]
Limit = Annotated[int, Field(ge=1, le=500, description="Most elements; fewer where they are large.")]


def read_result_tool(budget: int, count: Count) -> ToolSpec:
    """The tool; what it returns fits into `budget` tokens."""
    room = max(budget - _FRAME_TOKENS, budget // 2)

    @tool(
        name=READ_RESULT,
        engine=True,
        progress={"zh": "正在查看更多结果…", "en": "looking at more of the result …"},
    )
    async def read_result(
        context: ToolContext,
        ref: Ref,
        path: Path = "",
        where: Where = "",
        offset: Offset = 0,
        limit: Limit = 50,
    ) -> dict[str, JSON]:
        """Read a part of an earlier result that was cut, only when a value that it left out is needed. It gives
        what was stored; for news call the tool itself again."""
        stored = await stored_result(context.database, context.user_id, context.thread_id, ref)
        if stored is None:
            raise BusinessError(
                f"There is no result {ref!r} in this conversation.",
                kind="not_found",
                try_next="Use a ref exactly as a result in this conversation gives it, or call the tool again.",
            )
        part = _at(stored[1], path)
        if isinstance(part, dict) and (where or offset or not fits(dump(part), room, count)):
            part = [{"key": key, "value": value} for key, value in part.items()]
        if isinstance(part, list):
            return _slice(_matching(part, where), offset, limit, room, count)
        if isinstance(part, str):
            return _passage(part, offset, room, count)
        return {"value": part}

    return read_result


def _at(data: JSON, path: str) -> JSON:
    found = list(values(data, path))
    if not found:
        raise BusinessError(
            f"The result has nothing at {path!r}. {_shape(data)}",
            kind="not_found",
            try_next="Read with another path.",
        )
    # A path without `[]` or through one list element leads to one value.
    return found[0] if len(found) == 1 and "[]" not in path else found


def _shape(data: JSON) -> str:
    first = data[0] if isinstance(data, list) and data else data
    where = "Its elements have" if isinstance(data, list) else "It has"
    if isinstance(first, dict):
        names = ", ".join(list(first)[:_SAMPLE_FIELDS])
        return f"{where} the fields {names}."
    return f"It is a {'list' if isinstance(data, list) else 'single value'}."


def _matching(items: list[JSON], where: str) -> list[JSON]:
    """Elements whose field equals, or contains, the wanted text; cases do not matter."""
    if not where:
        return items
    at = min((index for mark in "=~" if (index := where.find(mark)) > 0), default=-1)
    if at < 0:
        raise BusinessError(
            f"{where!r} is no condition.", try_next="Write it as `field=value` or `field~text`."
        )
    field, exact, wanted = where[:at].strip(), where[at] == "=", where[at + 1 :].strip().casefold()
    return [item for item in items if _matches(item, field, exact, wanted)]


def _matches(item: JSON, field: str, exact: bool, wanted: str) -> bool:
    holder = item.get("value", item) if isinstance(item, dict) and item.keys() == {"key", "value"} else item
    for value in [*values(holder, field), *(values(item, field) if holder is not item else ())]:
        text = (value if isinstance(value, str) else dump(value)).casefold()
        if text == wanted or (not exact and wanted in text):
            return True
    return False


def _slice(items: list[JSON], offset: int, limit: int, room: int, count: Count) -> dict[str, JSON]:
    """As many elements as fit; a single one that does not is reduced."""
    wanted = items[offset : offset + limit]
    low, high = 0, len(wanted)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(dump(wanted[:middle]), room, count) else (low, middle - 1)
    part: dict[str, JSON] = {"total": len(items), "offset": offset, "items": wanted[:low]}
    if wanted and low == 0:
        reduced = reduce(wanted[0], room, count)
        low = 1
        part |= {"items": [reduced.data], "cut": dict(reduced.cut)}
    if offset + low < len(items):
        part["next_offset"] = offset + low
    return part


def _passage(text: str, offset: int, room: int, count: Count) -> dict[str, JSON]:
    """As much of a text as fits."""
    size = min(len(text) - offset, room * 6) if offset < len(text) else 0
    while size > 1 and not fits(dump(text[offset : offset + size]), room, count):
        size = size * 4 // 5
    part: dict[str, JSON] = {"total": len(text), "offset": offset, "text": text[offset : offset + size]}
    if offset + size < len(text):
        part["next_offset"] = offset + size
    return part
