"""Draw the graph as a picture, without network and without Graphviz."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from graph.pictures.layout import Lane, Layout, Link, Spot, lay_out

if TYPE_CHECKING:
    from langchain_core.runnables.graph import Graph
    from matplotlib.axes import Axes

INK, PAPER, BOX, EDGE, BACK, END = "#1f2937", "#ffffff", "#eef4ff", "#64748b", "#c2670c", "#dcfce7"
BOX_HEIGHT, ROW_HEIGHT, MARGIN = 0.42, 0.46, 0.35
LETTER, LABEL_LETTER = 0.098, 0.066
"""Width of a letter, in inches, in a box and in a label."""


def draw_png(drawn: Graph, path: Path) -> None:
    """Write the picture of `compiled.get_graph()` to a PNG file.

    Edges that lead back are drawn in a colour of their own, labels are the names of the paths.
    """
    # Imported here: matplotlib is needed for pictures alone.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    layout = _layout(drawn)
    left = min(spot.x - spot.width / 2 for spot in layout.spots) - MARGIN
    right = max(spot.x + spot.width / 2 + spot.loop for spot in layout.spots) + MARGIN
    height = (layout.rows - 1) * ROW_HEIGHT + BOX_HEIGHT + 2 * MARGIN
    figure = Figure(figsize=(right - left, height), facecolor=PAPER)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(left, right)
    axes.set_ylim(-height + MARGIN + BOX_HEIGHT / 2, MARGIN + BOX_HEIGHT / 2)
    axes.axis("off")
    ports = _ports(layout)
    for lane in layout.lanes:
        _draw_lane(axes, lane, ports)
    for link in layout.loops:
        _draw_loop(axes, layout.boxes[link.source], link.label)
    for spot in layout.boxes.values():
        _draw_box(axes, spot)
    figure.savefig(path, dpi=200)


def _layout(drawn: Graph) -> Layout:
    names = list(drawn.nodes)
    names.sort(key=lambda name: (name != "__start__", name == "__end__"))
    merged: dict[tuple[str, str], list[str]] = {}
    conditional: dict[tuple[str, str], bool] = {}
    for edge in drawn.edges:
        ends = (edge.source, edge.target)
        merged.setdefault(ends, []).extend([str(edge.data)] if edge.data else [])
        conditional[ends] = edge.conditional
    links = [Link(*ends, " / ".join(labels), conditional[ends]) for ends, labels in merged.items()]
    widths = {name: len(_title(name)) * LETTER + 0.34 for name in names}
    return lay_out(widths, links, {link.label: len(link.label) * LABEL_LETTER + 0.1 for link in links})


def _title(name: str) -> str:
    return name.strip("_") if name.startswith("__") else name


def _y(row: int) -> float:
    return -row * ROW_HEIGHT


def _ports(layout: Layout) -> Mapping[tuple[int, int], float]:
    """Where each lane meets its boxes: spread along the side, in the order in which the lanes come in."""
    ports: dict[tuple[int, int], float] = {}
    for spot in layout.boxes.values():
        down = [lane for lane in layout.lanes if lane.spots[0] is spot]
        up = [lane for lane in layout.lanes if lane.spots[-1] is spot]
        for lanes, end, near in ((down, 0, 1), (up, -1, -2)):
            _spread(spot, lanes, end, near, ports)
    return ports


def _spread(
    spot: Spot, lanes: Sequence[Lane], end: int, near: int, ports: dict[tuple[int, int], float]
) -> None:
    ordered = sorted(lanes, key=lambda lane: lane.spots[near].x)
    room = spot.width * 0.72
    for place, lane in enumerate(ordered):
        ports[id(lane), end] = spot.x + room * ((place + 1) / (len(ordered) + 1) - 0.5)


def _draw_lane(axes: Axes, lane: Lane, ports: Mapping[tuple[int, int], float]) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Curve

    top, bottom = lane.spots[0], lane.spots[-1]
    points = [(ports[id(lane), 0], _y(top.row) - BOX_HEIGHT / 2)]
    points += [(spot.x, _y(spot.row)) for spot in lane.spots[1:-1]]
    points += [(ports[id(lane), -1], _y(bottom.row) + BOX_HEIGHT / 2)]
    if lane.backwards:
        points.reverse()
    curve = _smooth(points)
    codes = [Curve.MOVETO] + [Curve.CURVE4] * (len(curve) - 1)
    colour = BACK if lane.backwards else EDGE
    axes.add_patch(
        FancyArrowPatch(
            path=Curve(curve, codes),
            arrowstyle="-|>",
            mutation_scale=11,
            linewidth=1.2,
            color=colour,
            zorder=1,
        )
    )
    if lane.link.label:
        spot = lane.label_spot
        _draw_label(axes, spot.x, _y(spot.row), lane.link.label, colour)


def _smooth(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Cubic curve through the points, upright at both ends and without a corner on its way."""
    slopes = [0.0]
    for (x0, y0), (x2, y2) in zip(points, points[2:], strict=False):
        slopes.append((x2 - x0) / (y2 - y0))
    slopes.append(0.0)
    curve = [points[0]]
    for index, ((x0, y0), (x1, y1)) in enumerate(itertools.pairwise(points)):
        third = (y1 - y0) / 3
        curve += [
            (x0 + slopes[index] * third, y0 + third),
            (x1 - slopes[index + 1] * third, y1 - third),
            (x1, y1),
        ]
    return curve


def _draw_label(axes: Axes, x: float, y: float, text: str, colour: str) -> None:
    background = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.2}
    axes.text(x, y, text, ha="center", va="center", fontsize=7.5, color=colour, bbox=background, zorder=3)


def _draw_loop(axes: Axes, spot: Spot, label: str) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Curve

    side, y, reach = spot.x + spot.width / 2, _y(spot.row), 0.36
    ends = [(side, y - 0.1), (side + reach, y - 0.26), (side + reach, y + 0.26), (side, y + 0.1)]
    curve = Curve(ends, [Curve.MOVETO] + [Curve.CURVE4] * 3)
    axes.add_patch(
        FancyArrowPatch(path=curve, arrowstyle="-|>", mutation_scale=11, linewidth=1.2, color=BACK, zorder=1)
    )
    axes.text(side + 0.3, y, label, ha="left", va="center", fontsize=7.5, color=BACK, zorder=3)


def _draw_box(axes: Axes, spot: Spot) -> None:
    from matplotlib.patches import FancyBboxPatch

    outer = spot.name.startswith("__")
    rounding = BOX_HEIGHT / 2 if outer else 0.09
    axes.add_patch(
        FancyBboxPatch(
            (spot.x - spot.width / 2, _y(spot.row) - BOX_HEIGHT / 2),
            spot.width,
            BOX_HEIGHT,
            boxstyle=f"round,pad=0,rounding_size={rounding}",
            facecolor=END if outer else BOX,
            edgecolor=INK,
            linewidth=1.1,
            zorder=2,
        )
    )
    axes.text(
        spot.x, _y(spot.row), _title(spot.name), ha="center", va="center", fontsize=10.5, color=INK, zorder=4
    )
