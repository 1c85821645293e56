"""A picture of what was spent: a bar for each turn, conversation or day, stacked by class, and the cost as a line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nodes.booking import CLASSES
from nodes.usage_report import CostRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, FAINT = "#1f2937", "#e5e7eb"
COLOURS: Mapping[str, str] = {
    "instructions": "#94a3b8",
    "memory": "#8b5cf6",
    "tools": "#0ea5e9",
    "history": "#f59e0b",
    "output": "#10b981",
}
MOST_TICKS = 14


def draw_costs(rows: Sequence[CostRow], path: Path) -> None:
    """Write the picture to a PNG file. `rows` as the report gives them, at least one."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(max(6.4, min(16, 2.4 + 0.45 * len(rows))), 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    _bars(axes, rows)
    _frame(axes, rows)
    if any(row["cost"] for row in rows):
        _cost_line(axes, rows)
    figure.legend(ncols=len(CLASSES) + 1, frameon=False, loc="outside lower center", fontsize=9)
    figure.savefig(path, dpi=180)


def _bars(axes: Axes, rows: Sequence[CostRow]) -> None:
    places = range(len(rows))
    bottom = [0] * len(rows)
    for name in CLASSES:
        heights = [row["by_class"][name] for row in rows]
        axes.bar(places, heights, 0.72, bottom=bottom, color=COLOURS[name], label=name, zorder=2)
        bottom = [below + height for below, height in zip(bottom, heights, strict=True)]
    axes.set_ylim(0, max(1, *bottom) * 1.12)


def _frame(axes: Axes, rows: Sequence[CostRow]) -> None:
    from matplotlib.ticker import FuncFormatter

    tokens = sum(sum(row["by_class"].values()) for row in rows)
    axes.set_title(
        f"{tokens:,} tokens in {sum(row['calls'] for row in rows):,} model calls", loc="left", color=INK
    )
    axes.set_ylabel("tokens", color=INK)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.grid(axis="y", color=FAINT, zorder=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(colors=INK, length=0)
    step = -(-len(rows) // MOST_TICKS)
    shown = range(0, len(rows), step)
    axes.set_xticks(list(shown), [_short(rows[place]["key"], place) for place in shown])


def _cost_line(axes: Axes, rows: Sequence[CostRow]) -> None:
    other = axes.twinx()
    other.plot(
        range(len(rows)),
        [row["cost"] for row in rows],
        color=INK,
        marker="o",
        markersize=4,
        linewidth=1.4,
        label="cost",
    )
    other.set_ylim(0, max(row["cost"] for row in rows) * 1.3)
    other.set_ylabel("cost", color=INK)
    other.spines[["top", "right", "left"]].set_visible(False)
    other.tick_params(colors=INK, length=0)


def _short(key: str, place: int) -> str:
    """A date without its year; a turn or a thread by its number, since ids say nothing to a reader."""
    return key[5:] if re.fullmatch(r"\d{4}-\d\d-\d\d", key) else f"#{place + 1}"
