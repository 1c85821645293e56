"""What was spent, read from the token ledger: a thread by turns, a user by threads, a span of time by days."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, TypedDict

from memory.database import Database
from nodes.booking import CLASSES

_QUERY = """
SELECT CASE %(by)s
           WHEN 'turn' THEN turn_id
           WHEN 'thread' THEN thread_id
           ELSE to_char(created_at AT TIME ZONE %(timezone)s, 'YYYY-MM-DD')
       END AS key,
       role,
       min(created_at) AS since,
       count(*) AS calls,
       sum(instructions) AS instructions, sum(memory) AS memory, sum(tools) AS tools,
       sum(history) AS history, sum(output) AS output,
       sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens,
       sum(cached_tokens) AS cached_tokens, sum(reasoning_tokens) AS reasoning_tokens,
       count(*) FILTER (WHERE estimated) AS estimated_calls,
       count(*) FILTER (WHERE cost IS NULL) AS unpriced_calls,
       coalesce(sum(cost), 0)::float8 AS cost
FROM token_usage
WHERE (%(thread)s::text IS NULL OR thread_id = %(thread)s)
  AND (%(user)s::text IS NULL OR user_id = %(user)s)
  AND (%(since)s::timestamptz IS NULL OR created_at >= %(since)s)
GROUP BY 1, 2
ORDER BY 1, 2
"""
_SUMS = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")


class CostRow(TypedDict):
    """Tokens and cost of one turn, thread or day."""

    key: str
    """Turn id, thread id or date; empty for work of a thread that belongs to no turn."""
    since: datetime
    calls: int
    by_class: dict[str, int]
    by_role: dict[str, int]
    """Prompt and completion tokens together."""
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    estimated_calls: int
    """Calls whose tokens were counted here, since the endpoint gave none."""
    unpriced_calls: int
    """Calls of models that the price file does not know; not in `cost`."""
    cost: float


async def report(
    database: Database,
    *,
    thread: str | None = None,
    user: str | None = None,
    days: int | None = None,
    timezone: str = "UTC",
) -> list[CostRow]:
    """The ledger's sums, oldest first: of a thread by turn, of a user by thread, with `days` by day.

    `days` counts back from now; it can be joined with `user`. `timezone` says where a day begins.
    """
    by = "turn" if thread is not None else "thread" if user is not None and days is None else "day"
    since = None if days is None else datetime.now(UTC) - timedelta(days=days)
    found = await database.fetch(
        _QUERY, {"by": by, "thread": thread, "user": user, "since": since, "timezone": timezone}
    )
    rows: dict[str, CostRow] = {}
    for part in found:
        row = rows.setdefault(part["key"], _empty(part))
        row["since"] = min(row["since"], part["since"])
        row["by_role"][part["role"]] = part["prompt_tokens"] + part["completion_tokens"]
        for name in CLASSES:
            row["by_class"][name] += part[name]
        for name in (*_SUMS, "calls", "estimated_calls", "unpriced_calls", "cost"):
            row[name] += part[name]  # type: ignore[literal-required]
    return sorted(rows.values(), key=lambda row: row["since"])


def _empty(part: dict[str, Any]) -> CostRow:
    return {
        "key": part["key"],
        "since": part["since"],
        "calls": 0,
        "by_class": dict.fromkeys(CLASSES, 0),
        "by_role": {},
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "cached_tokens": 0,
        "reasoning_tokens": 0,
        "estimated_calls": 0,
        "unpriced_calls": 0,
        "cost": 0.0,
    }
