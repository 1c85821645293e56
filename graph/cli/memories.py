"""`steward memory`: what is remembered of a user, listed, exported, corrected, erased."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from graph.cli.printing import note
from graph.cli.running import OK, run

if TYPE_CHECKING:
    from graph.settings import Settings

app = typer.Typer(no_args_is_help=True, help="What is remembered of a user: list, export, set, forget.")

User = Annotated[str, typer.Option("--user", help="The customer.")]


@app.command("list")
def list_(user: User) -> None:
    """Show the memories that are valid now."""
    run(lambda settings: _list(settings, user))


@app.command("export")
def export_(user: User) -> None:
    """Print everything that is stored of a user, as JSON."""
    run(lambda settings: _export(settings, user))


@app.command("set")
def set_(
    user: User,
    key: Annotated[str, typer.Option("--key", help="What the memory is called, such as delivery_day.")],
    content: Annotated[str, typer.Option("--content", help="The fact, in one sentence.")],
) -> None:
    """Correct or add one memory; it replaces the one of the same key."""
    run(lambda settings: _set(settings, user, key, content))


@app.command("forget")
def forget(
    user: User,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    key: Annotated[str | None, typer.Option("--key", help="Only the memory of this key.")] = None,
) -> None:
    """Erase a user everywhere: memories, sessions, conversations, queued jobs. With --key: one memory alone."""
    if key is not None:
        run(lambda settings: _forget_one(settings, user, key))
        return
    if not yes:
        typer.confirm(
            f"Erase everything that is stored of {user}? This cannot be undone.", abort=True, err=True
        )
    run(lambda settings: _forget(settings, user))


async def _list(settings: Settings, user: str) -> int:
    from rich.console import Console
    from rich.table import Table

    from graph.chosen_business import chosen_business
    from graph.holder import open_services
    from memory.store import list_memories

    async with open_services(settings, chosen_business(settings)) as services:
        memories = await list_memories(services.database, user)
    table = Table("key", "content", "type", "confidence", "confirmed", box=None, pad_edge=False)
    for memory in memories:
        confirmed = f"{memory.last_confirmed_at:%Y-%m-%d}"
        table.add_row(memory.key, memory.content, memory.type, f"{memory.confidence:.2f}", confirmed)
    Console().print(table if memories else "Nothing is remembered of this user.")
    return OK


async def _export(settings: Settings, user: str) -> int:
    from graph.chosen_business import chosen_business
    from graph.holder import open_services
    from graph.personal_data import export

    async with open_services(settings, chosen_business(settings)) as services:
        print(json.dumps(await export(services.database, user), ensure_ascii=False, indent=2))
    return OK


async def _set(settings: Settings, user: str, key: str, content: str) -> int:
    from graph.chosen_business import chosen_business
    from graph.holder import open_services
    from memory.store import set_memory

    async with open_services(settings, chosen_business(settings)) as services:
        memory = await set_memory(services.database, services.embedder, user, key, content)
    note(f"remembered as {memory.key}: {memory.content}")
    return OK


async def _forget_one(settings: Settings, user: str, key: str) -> int:
    from graph.chosen_business import chosen_business
    from graph.holder import open_services
    from memory.store import forget_key

    async with open_services(settings, chosen_business(settings)) as services:
        rows = await forget_key(services.database, user, key)
    note(f"forgotten ({rows} rows, history included)" if rows else f"Nothing is remembered under {key}.")
    return OK


async def _forget(settings: Settings, user: str) -> int:
    from graph.chosen_business import chosen_business
    from graph.holder import open_services
    from graph.personal_data import erase

    async with open_services(settings, chosen_business(settings)) as services:
        rows = await erase(services.database, user)
    note(f"erased ({rows} rows)")
    return OK
