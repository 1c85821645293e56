"""`steward costs`: what was spent, as table, picture or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graph.cli.printing import note
from graph.cli.running import OK, BadUsage, run

if TYPE_CHECKING:
    from rich.table import Table

    from graph.settings import Settings
    from nodes.usage_report import CostRow


def costs(
    thread: Annotated[str | None, typer.Option("--thread", help="One conversation, by turn.")] = None,
    user: Annotated[str | None, typer.Option("--user", help="One customer, by conversation.")] = None,
    days: Annotated[int | None, typer.Option("--days", min=1, help="The last days, by day.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw it into this PNG file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show tokens by class, and what they cost; without option, of all days."""
    run(lambda settings: _costs(settings, thread, user, days, plot, as_json=as_json))


async def _costs(
    settings: Settings,
    thread: str | None,
    user: str | None,
    days: int | None,
    plot: Path | None,
    *,
    as_json: bool,
) -> int:
    from rich.console import Console

    from graph.chosen_business import chosen_business
    from graph.costs import as_object
    from graph.holder import open_services
    from nodes.usage_report import report

    async with open_services(settings, chosen_business(settings)) as services:
        rows = await report(
            services.database, thread=thread, user=user, days=days, timezone=settings.steward_timezone
        )
    if as_json:
        print(json.dumps(as_object(rows), ensure_ascii=False))
    elif rows:
        Console().print(cost_table(rows, first_column="turn" if thread else "day or thread"))
    else:
        print("Nothing has been spent.")
    if plot:
        _draw(rows, plot)
    return OK


def _draw(rows: Sequence[CostRow], plot: Path) -> None:
    from graph.pictures.cost_plot import draw_costs

    if not rows:
        raise BadUsage("There is nothing to draw.")
    try:
        draw_costs(rows, plot)
    except OSError as error:
        raise BadUsage(f"{plot} cannot be written ({error.strerror}).") from None
    note(f"drawn to {plot}")


def cost_table(rows: Sequence[CostRow], *, first_column: str) -> Table:
    """One line a turn, conversation or day, and the sum of all."""
    from rich.table import Table

    from graph.costs import total
    from nodes.booking import CLASSES

    table = Table(box=None, pad_edge=False, show_footer=len(rows) > 1)
    whole = total(rows)
    cached = whole["cached_tokens"] > 0
    table.add_column(first_column, footer="all", overflow="fold")
    table.add_column("calls", footer=str(whole["calls"]), justify="right")
    for name in CLASSES:
        table.add_column(name, footer=f"{whole['by_class'][name]:,}", justify="right")
    if cached:
        table.add_column("cached", footer=f"{whole['cached_tokens']:,}", justify="right")
    table.add_column("cost", footer=_money(whole), justify="right")
    for row in rows:
        classes = [f"{row['by_class'][name]:,}" for name in CLASSES]
        more = [f"{row['cached_tokens']:,}"] if cached else []
        table.add_row(row["key"] or "(no turn)", str(row["calls"]), *classes, *more, _money(row))
    return table


def _money(row: CostRow) -> str:
    """The cost; what the price file has no price for is said, not counted as free."""
    unpriced = row["unpriced_calls"]
    if unpriced and unpriced == row["calls"]:
        return "unpriced"
    return f"{row['cost']:.4f}{f' + {unpriced} unpriced' if unpriced else ''}"
