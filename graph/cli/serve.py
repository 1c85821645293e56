"""`steward serve`: the LangGraph dev server with this project's settings."""

from __future__ import annotations

import typer

from graph.cli.printing import note
from graph.cli.running import prepare


def serve(context: typer.Context) -> None:
    """Run the LangGraph dev server; options are its own (--host, --port, …)."""
    from graph.server.serve import run_server

    run_server(prepare(), context.args, _announce)


def _announce(base: str) -> None:
    note(
        f"Steward on {base} · Page: {base}/console · Studio: https://smith.langchain.com/studio/?baseUrl={base}"
    )
