"""The commands and what they are called. Nothing heavy is imported before a command runs."""

from __future__ import annotations

import io
import os
import sys

import typer

from graph.cli import chat, costs, doctor, evaluate, memories, new, picture, resume, serve, worker
from graph.cli.running import INTERRUPTED, report_error

app = typer.Typer(
    name="steward",
    help="A customer-service agent: talk to it, run it, look after it. Settings: see .env.example.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("chat")(chat.chat)
app.command("resume")(resume.resume)
app.command("worker")(worker.worker)
app.add_typer(memories.app, name="memory")
app.command("costs")(costs.costs)
app.command("graph")(picture.graph)
app.command("eval")(evaluate.evaluate)
app.command("new")(new.new)
app.command("doctor")(doctor.doctor)
app.command(
    "serve",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
)(serve.serve)


def main() -> None:
    """Entry point of the console script `steward`."""
    _speak_utf8()
    # A fork waits for BLAS's threads to end. While one embeds, that can be for ever: with the server's event loop,
    # which forks for a process of an MCP server, everything would stand still. The matrices need no threads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has gone; there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        debug = os.environ.get("STEWARD_LOG_LEVEL", "").lower() == "debug"
        sys.exit(report_error(error, debug=debug))


def _speak_utf8() -> None:
    """Answers are Chinese as often as not, whatever the terminal's locale claims."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
