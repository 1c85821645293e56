"""Sums of the token ledger's report, as the command line and the server give them out. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from nodes.booking import CLASSES
from nodes.usage_report import CostRow

_NUMBERS = (
    "calls",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "reasoning_tokens",
    "estimated_calls",
    "unpriced_calls",
    "cost",
)


def total(rows: Sequence[CostRow]) -> CostRow:
    """All rows in one."""
    roles: dict[str, int] = {}
    for row in rows:
        for role, tokens in row["by_role"].items():
            roles[role] = roles.get(role, 0) + tokens
    sums: dict[str, Any] = {name: sum(row[name] for row in rows) for name in _NUMBERS}  # type: ignore[literal-required]
    return {
        "key": "all",
        "since": min((row["since"] for row in rows), default=datetime.now(UTC)),
        "by_class": {name: sum(row["by_class"][name] for row in rows) for name in CLASSES},
        "by_role": roles,
        **sums,
    }  # type: ignore[typeddict-item]


def as_object(rows: Sequence[CostRow]) -> dict[str, Any]:
    """JSON-native rows and their total."""
    return {"rows": [_plain(row) for row in rows], "total": _plain(total(rows))}


def _plain(row: CostRow) -> dict[str, Any]:
    return {**row, "since": row["since"].isoformat()}
