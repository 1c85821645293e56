"""Start the LangGraph dev server on this project: our checkpointer, routes and authentication, and no chatter.

The server runs in this process. What would keep it from starting is found out before, since it would tell such
things in a stack trace.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

from graph.chosen_business import chosen_business
from graph.holder import migration_folders
from graph.server.config import CONFIG
from graph.settings import Settings
from memory.database import open_database
from memory.embedded import EmbeddedPostgres
from memory.encryption_health import require_key
from memory.errors import ConfigurationError
from memory.migrate import migrate

QUIET = {
    "LANGGRAPH_NO_VERSION_CHECK": "1",
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "LANGSMITH_TRACING": "false",
    "LOG_LEVEL": "WARNING",
}
PORT = 2024
DEFAULTS = (
    ("--host", "127.0.0.1"),
    ("--n-jobs-per-worker", "10"),
    ("--no-browser", None),
    ("--no-reload", None),
)


def run_server(settings: Settings, options: Sequence[str], announce: Callable[[str], None]) -> None:
    """Serve until stopped. `options` go to `langgraph dev`, over our defaults; `announce` is told the address.

    Raises ConfigurationError where the server is not installed or no conversation opens with the key that is set,
    DatabaseUnavailable, SchemaError.
    """
    if find_spec("langgraph_cli") is None or find_spec("langgraph_api") is None:
        raise ConfigurationError(
            "The server is not installed: `pip install 'steward[server]'` brings the LangGraph dev server."
        )
    if "--help" in options:
        _serve(options, settings)
        return
    host, port = address(options)
    _check_port(host, port)
    os.environ.update({name: value for name, value in QUIET.items() if name not in os.environ})
    embedded = EmbeddedPostgres(settings.steward_home) if settings.database_url is None else None
    if embedded:
        # Held from here on: the check below would otherwise start the server and stop it again.
        embedded.start()
    try:
        asyncio.run(_check(settings))
        announce(f"http://{host}:{port}")
        _serve([*options, *missing_defaults(options)], settings)
    finally:
        if embedded:
            embedded.release()


def address(options: Sequence[str]) -> tuple[str, int]:
    """Host and port that the options ask for, else the defaults. Raises ConfigurationError."""
    found = {"--host": "127.0.0.1", "--port": str(PORT)}
    words = [word for option in options for word in option.split("=", 1)]
    found.update({name: value for name, value in pairwise(words) if name in found})
    if not found["--port"].isascii() or not found["--port"].isdigit():
        raise ConfigurationError(f"--port takes a number, not {found['--port']!r}.")
    return found["--host"], int(found["--port"])


def _check_port(host: str, port: int) -> None:
    """The server would quietly take another port."""
    try:
        with socket.create_server((host, port), reuse_port=False):
            return
    except (OSError, OverflowError) as error:
        raise ConfigurationError(
            f"{host}:{port} cannot be listened on ({error.strerror if isinstance(error, OSError) else error}); "
            "stop what listens there, or choose another with --port."
        ) from None


async def _check(settings: Settings) -> None:
    business = await asyncio.to_thread(chosen_business, settings)
    async with open_database(settings, business.name, claim=True) as database:
        await migrate(database, migration_folders(business))
        await require_key(database, settings)


def missing_defaults(options: Sequence[str]) -> list[str]:
    """Our defaults for what the caller has not said."""
    given = {option.partition("=")[0] for option in options}
    return [
        word
        for name, value in DEFAULTS
        if name not in given
        for word in ([name] if value is None else [name, value])
    ]


def _serve(options: Sequence[str], settings: Settings) -> None:
    from langgraph_cli.cli import cli

    if not {"--config", "-c"} & {option.partition("=")[0] for option in options}:
        options = ["--config", str(_config_file(settings)), *options]
    cli(["dev", *options], prog_name="steward serve", standalone_mode=True)


def _config_file(settings: Settings) -> Path:
    """The checkout's own langgraph.json; elsewhere one that names the installed package."""
    here = Path("langgraph.json")
    if here.is_file():
        return here
    settings.steward_home.mkdir(parents=True, exist_ok=True)
    written = settings.steward_home / "langgraph.json"
    written.write_text(json.dumps(CONFIG, indent=2), encoding="utf-8")
    return written
