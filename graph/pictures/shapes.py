"""The drawn graph as shapes: boxes and curves with their places, for whoever paints them.

Lengths are in inches, y grows downwards, the top row stands at 0. Pure.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graph.pictures.layout import Lane, Layout, Link, Spot, lay_out

if TYPE_CHECKING:
    from langchain_core.runnables.graph import Graph

BOX_HEIGHT, ROW_HEIGHT, MARGIN = 0.42, 0.46, 0.35
LETTER, LABEL_LETTER = 0.098, 0.066
"""Width of a letter, in inches, in a box and in a label."""
LOOP_REACH = 0.36

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A node. `x`, `y` is its middle."""

    name: str
    title: str
    x: float
    y: float
    width: float
    outer: bool
    """Where the graph begins or ends."""


@dataclass(frozen=True)
class Curve:
    """An edge, or several with the same ends: a cubic Bézier curve with an arrow at its end."""

    source: str
    target: str
    label: str
    label_at: Point
    """The label's middle; of an edge to its own node, its left end."""
    points: Sequence[Point]
    """The start, then two control points and an end for each part."""
    backwards: bool


@dataclass(frozen=True)
class Figure:
    """All shapes and the area that they take, margin included."""

    boxes: Sequence[Box]
    curves: Sequence[Curve]
    left: float
    top: float
    width: float
    height: float


def shapes(drawn: Graph) -> Figure:
    """The shapes of `compiled.get_graph()`."""
    layout = _layout(drawn)
    left = min(spot.x - spot.width / 2 for spot in layout.spots) - MARGIN
    right = max(spot.x + spot.width / 2 + spot.loop for spot in layout.spots) + MARGIN
    ports = _ports(layout)
    return Figure(
        boxes=[_box(spot) for spot in layout.boxes.values()],
        curves=[
            *(_curve(lane, ports) for lane in layout.lanes),
            *(_loop(layout.boxes[link.source], link) for link in layout.loops),
        ],
        left=left,
        top=-MARGIN - BOX_HEIGHT / 2,
        width=right - left,
        height=(layout.rows - 1) * ROW_HEIGHT + BOX_HEIGHT + 2 * MARGIN,
    )


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
    return row * ROW_HEIGHT


def _box(spot: Spot) -> Box:
    return Box(spot.name, _title(spot.name), spot.x, _y(spot.row), spot.width, spot.name.startswith("__"))


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


def _curve(lane: Lane, ports: Mapping[tuple[int, int], float]) -> Curve:
    top, bottom = lane.spots[0], lane.spots[-1]
    points = [(ports[id(lane), 0], _y(top.row) + BOX_HEIGHT / 2)]
    points += [(spot.x, _y(spot.row)) for spot in lane.spots[1:-1]]
    points += [(ports[id(lane), -1], _y(bottom.row) - BOX_HEIGHT / 2)]
    if lane.backwards:
        points.reverse()
    link, spot = lane.link, lane.label_spot
    return Curve(
        link.source, link.target, link.label, (spot.x, _y(spot.row)), _smooth(points), lane.backwards
    )


def _smooth(points: Sequence[Point]) -> list[Point]:
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


def _loop(spot: Spot, link: Link) -> Curve:
    side, y = spot.x + spot.width / 2, _y(spot.row)
    points = [(side, y + 0.1), (side + LOOP_REACH, y + 0.26), (side + LOOP_REACH, y - 0.26), (side, y - 0.1)]
    return Curve(link.source, link.target, link.label, (side + 0.3, y), points, backwards=True)
