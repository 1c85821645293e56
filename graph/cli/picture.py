"""`steward graph`: the state machine as it runs, as a picture or as Mermaid text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graph.cli.printing import note
from graph.cli.running import BadUsage, prepare


def graph(
    png: Annotated[Path | None, typer.Option("--png", help="Draw it into this file.")] = None,
    mermaid: Annotated[
        bool, typer.Option("--mermaid", help="Print it as Mermaid text (so without option).")
    ] = False,
) -> None:
    """Draw the graph. Needs neither a database nor a network."""
    if png and mermaid:
        raise BadUsage("--png and --mermaid exclude each other.")
    from graph.build import build_graph
    from graph.pictures.drawing import draw_png

    drawn = build_graph(settings=prepare()).compile().get_graph()
    if png:
        try:
            draw_png(drawn, png)
        except OSError as error:
            raise BadUsage(f"{png} cannot be written ({error.strerror}).") from None
        note(f"drawn to {png}")
    else:
        print(drawn.draw_mermaid())
