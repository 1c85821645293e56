"""Sums of the token ledger's report, as the command line and the server give them out. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from nodes.booking import CLASSES
from nodes.usage_report import CostRow


def total(rows: Sequence[CostRow]) -> CostRow:
    """All rows in one."""
    roles: dict[str, int] = {}
    for row in rows:
        for role, tokens in row["by_role"].items():
            roles[role] = roles.get(role, 0) + tokens
    return {
        "key": "all",
        "since": min((row["since"] for row in rows), default=datetime.now(UTC)),
        "calls": sum(row["calls"] for row in rows),
        "by_class": {name: sum(row["by_class"][name] for row in rows) for name in CLASSES},
        "by_role": roles,
        "prompt_tokens": sum(row["prompt_tokens"] for row in rows),
        "completion_tokens": sum(row["completion_tokens"] for row in rows),
        "cached_tokens": sum(row["cached_tokens"] for row in rows),
        "reasoning_tokens": sum(row["reasoning_tokens"] for row in rows),
        "estimated_calls": sum(row["estimated_calls"] for row in rows),
        "unpriced_calls": sum(row["unpriced_calls"] for row in rows),
        "cost": sum(row["cost"] for row in rows),
    }


def as_object(rows: Sequence[CostRow]) -> dict[str, Any]:
    """JSON-native rows and their total."""
    return {"rows": [_plain(row) for row in rows], "total": _plain(total(rows))}


def _plain(row: CostRow) -> dict[str, Any]:
    return {**row, "since": row["since"].isoformat()}
