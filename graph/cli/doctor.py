"""`steward doctor`: what works, what does not, how to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from graph.cli.printing import note
from graph.cli.running import FAILED, OK, run

if TYPE_CHECKING:
    from graph.settings import Settings

WELL, WARNING, WRONG = "[green]✓[/]", "[yellow]![/]", "[red]✗[/]"


def doctor(
    retry: Annotated[
        bool, typer.Option("--retry", help="Give memory jobs that were given up another try.")
    ] = False,
) -> None:
    """Check settings, database, embeddings, memory jobs and the model endpoint."""
    run(lambda settings: _doctor(settings, retry=retry))


async def _doctor(settings: Settings, *, retry: bool) -> int:
    from rich.console import Console
    from rich.markup import escape

    from graph.chosen_business import chosen_business
    from graph.doctor import examine

    if retry:
        await _retry(settings)
    console = Console(highlight=False, soft_wrap=True)
    findings = await examine(settings, chosen_business(settings))
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        mark = WRONG if not finding.ok else WARNING if finding.cure else WELL
        console.print(f"{mark} {escape(finding.name.ljust(width))}  {escape(finding.detail)}")
        if finding.cure:
            console.print(f"  {' ' * width}  → {escape(finding.cure)}")
    return OK if all(finding.ok for finding in findings) else FAILED


async def _retry(settings: Settings) -> None:
    from graph.chosen_business import chosen_business
    from memory.database import open_database
    from memory.queue import retry_failed_jobs

    async with open_database(settings, chosen_business(settings).name) as database:
        note(f"{await retry_failed_jobs(database)} memory jobs are tried again")
