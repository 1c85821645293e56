"""The command line: `steward`, one small module a group of commands."""

from graph.cli.main import main

__all__ = ["main"]
