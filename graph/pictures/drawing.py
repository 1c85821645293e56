"""Draw the graph as a picture, without network and without Graphviz."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graph.pictures.shapes import BOX_HEIGHT, Box, Curve, shapes

if TYPE_CHECKING:
    from langchain_core.runnables.graph import Graph
    from matplotlib.axes import Axes

INK, PAPER, BOX, EDGE, BACK, END = "#1f2937", "#ffffff", "#eef4ff", "#64748b", "#c2670c", "#dcfce7"


def draw_png(drawn: Graph, path: Path) -> None:
    """Write the picture of `compiled.get_graph()` to a PNG file.

    Edges that lead back are drawn in a colour of their own, labels are the names of the paths.
    """
    # Imported here: matplotlib is needed for pictures alone.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    found = shapes(drawn)
    figure = Figure(figsize=(found.width, found.height), facecolor=PAPER)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(found.left, found.left + found.width)
    axes.set_ylim(found.top + found.height, found.top)
    axes.axis("off")
    for curve in found.curves:
        _draw_curve(axes, curve)
    for box in found.boxes:
        _draw_box(axes, box)
    figure.savefig(path, dpi=200)


def _draw_curve(axes: Axes, curve: Curve) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Line

    codes = [Line.MOVETO] + [Line.CURVE4] * (len(curve.points) - 1)
    colour = BACK if curve.backwards else EDGE
    axes.add_patch(
        FancyArrowPatch(
            path=Line(curve.points, codes),
            arrowstyle="-|>",
            mutation_scale=11,
            linewidth=1.2,
            color=colour,
            zorder=1,
        )
    )
    if not curve.label:
        return
    x, y = curve.label_at
    loop = curve.source == curve.target
    background = None if loop else {"facecolor": PAPER, "edgecolor": "none", "pad": 1.2}
    axes.text(
        x,
        y,
        curve.label,
        ha="left" if loop else "center",
        va="center",
        fontsize=7.5,
        color=colour,
        bbox=background,
        zorder=3,
    )


def _draw_box(axes: Axes, box: Box) -> None:
    from matplotlib.patches import FancyBboxPatch

    axes.add_patch(
        FancyBboxPatch(
            (box.x - box.width / 2, box.y - BOX_HEIGHT / 2),
            box.width,
            BOX_HEIGHT,
            boxstyle=f"round,pad=0,rounding_size={BOX_HEIGHT / 2 if box.outer else 0.09}",
            facecolor=END if box.outer else BOX,
            edgecolor=INK,
            linewidth=1.1,
            zorder=2,
        )
    )
    axes.text(box.x, box.y, box.title, ha="center", va="center", fontsize=10.5, color=INK, zorder=4)
