"""`steward new`: a skeleton business that runs at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graph.cli.printing import note


def new(
    name: Annotated[
        str, typer.Argument(help="What the business is called: lower-case letters, digits, underscores.")
    ],
) -> None:
    """Write a skeleton business into a new folder, with tools, documents and a test of its own."""
    from graph.skeleton.write import write_skeleton

    for path in write_skeleton(name, Path.cwd()):
        print(path.relative_to(Path.cwd()))
    note(f"\ncd {name}, then: steward chat --user ann · steward eval · python -m pytest")
