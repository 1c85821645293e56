"""`steward worker`: the background memory jobs, in a process of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from graph.cli.printing import note
from graph.cli.running import OK, run

if TYPE_CHECKING:
    from graph.settings import Settings


def worker(
    once: Annotated[bool, typer.Option("--once", help="Run what is due, then stop.")] = False,
    again: Annotated[
        bool, typer.Option("--reembed", help="Embed every memory by the model of the settings, then stop.")
    ] = False,
) -> None:
    """Run background memory jobs until stopped."""
    run(_reembed if again else lambda settings: _work(settings, once=once))


async def _reembed(settings: Settings) -> int:
    from graph.chosen_business import chosen_business
    from graph.holder import migration_folders
    from memory.database import open_database
    from memory.embeddings import make_embedder
    from memory.migrate import migrate
    from memory.reembed import reembed

    business = chosen_business(settings)
    async with open_database(settings, business.name, claim=True) as database:
        await migrate(database, migration_folders(business))
        texts = await reembed(database, make_embedder(settings))
    note(f"{texts} texts embedded by {settings.steward_embeddings}")
    return OK


async def _work(settings: Settings, *, once: bool) -> int:
    from graph.chosen_business import chosen_business
    from graph.holder import open_services
    from graph.worker import make_worker

    async with open_services(settings, chosen_business(settings)) as services:
        worker = make_worker(services)
        if once:
            await worker.drain()
        else:
            note("memory worker runs; Ctrl-C stops it")
            await worker.run()
    return OK
