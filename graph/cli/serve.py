"""`steward serve`: the LangGraph dev server with this project's settings."""

from __future__ import annotations

import typer


def serve(context: typer.Context) -> None:
    """Run the LangGraph dev server; options are its own (--host, --port, …)."""
    from graph.cli.running import prepare
    from graph.serve import run_server

    run_server(prepare(), context.args)
