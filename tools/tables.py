"""The same data in fewer tokens: records that share their fields become one table. Nothing is lost.

`[{"id": 1, "state": "open"}, {"id": 2, "state": "open"}, {"id": 3, "state": "open"}]` is written as
`{"same": {"state": "open"}, "columns": ["id"], "rows": [[1], [2], [3]]}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tools.spec import JSON

_FEWEST_ROWS: Final = 3
_FILLED: Final = 0.6
"""Share of the cells that must hold a value; below it the records have too little in common."""


def compact(value: JSON) -> JSON:
    """The value with every list (or map) of like records written as a table."""
    if isinstance(value, list):
        return _table(None, value) or _grouped(value) or [compact(item) for item in value]
    if isinstance(value, dict):
        keys: list[JSON] = list(value)
        return _table(keys, list(value.values())) or {key: compact(item) for key, item in value.items()}
    return value


def is_map_of_records(value: Mapping[str, JSON]) -> bool:
    """A map from keys to like records (`{"9690244451": {…}, …}`), not a record with fields of its own."""
    rows = _records(list(value.values()))
    return rows is not None and _columns(rows) is not None


def _table(keys: list[JSON] | None, items: list[JSON]) -> dict[str, JSON] | None:
    rows = _records(items)
    columns = None if rows is None else _columns(rows)
    if rows is None or columns is None:
        return None
    if keys is not None and not any(_column(rows, name) == keys for name in columns):
        if "key" in columns:
            return None
        rows = [{"key": key, **row} for key, row in zip(keys, rows, strict=True)]
        columns = ["key", *columns]
    return _written(columns, rows)


def _grouped(items: list[JSON]) -> dict[str, JSON] | None:
    """A list of lists of like records: one table, its rows in groups."""
    groups = [item for item in items if isinstance(item, list)]
    if len(groups) < len(items):
        return None
    table = _table(None, [record for group in groups for record in group])
    if table is None:
        return None
    rows = iter(_as_list(table.pop("rows")))
    return {**table, "groups": [[next(rows) for _ in group] for group in groups]}


def _as_list(value: JSON) -> list[JSON]:
    return value if isinstance(value, list) else [value]


def _written(columns: list[str], rows: list[dict[str, JSON]]) -> dict[str, JSON]:
    same: dict[str, JSON] = {
        name: compact(rows[0][name]) for name in columns if name in rows[0] and _constant(rows, name)
    }
    varying = [name for name in columns if name not in same]
    table: dict[str, JSON] = {
        "columns": list(varying),
        "rows": [[compact(row.get(name)) for name in varying] for row in rows],
    }
    return {"same": same, **table} if same else table


def _records(items: list[JSON]) -> list[dict[str, JSON]] | None:
    """The items as flat records; None where they are too few, or something else."""
    if len(items) < _FEWEST_ROWS:
        return None
    rows: list[dict[str, JSON]] = []
    for item in items:
        if not isinstance(item, dict) or not item:
            return None
        row = _flat(item)
        rows.append(dict(item) if row is None else row)
    return rows


def _flat(record: Mapping[str, JSON], prefix: str = "") -> dict[str, JSON] | None:
    """Nested records under dotted names; None where two names would meet."""
    flat: dict[str, JSON] = {}
    for name, value in record.items():
        below = _flat(value, f"{prefix}{name}.") if isinstance(value, dict) and value else None
        entries = {f"{prefix}{name}": value} if below is None else below
        if flat.keys() & entries.keys():
            return None
        flat.update(entries)
    return flat


def _columns(rows: list[dict[str, JSON]]) -> list[str] | None:
    """All fields in order of appearance; None where the records have too little in common."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    filled = sum(len(row) for row in rows)
    return columns if filled >= _FILLED * len(columns) * len(rows) else None


def _column(rows: list[dict[str, JSON]], name: str) -> list[JSON]:
    return [row.get(name) for row in rows]


def _constant(rows: list[dict[str, JSON]], name: str) -> bool:
    first = rows[0].get(name)
    # 1 == True == 1.0 in Python, not in JSON
    return all(name in row and row[name] == first and type(row[name]) is type(first) for row in rows)
