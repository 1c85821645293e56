"""A layered layout for small directed graphs: boxes in rows, edges through lanes of their own, labels apart.

Rows run from top to bottom. An edge to a node that was declared earlier runs backwards; for the layout it is turned
round. Each edge is cut into one point a row, and the point beside its start is as wide as the edge's label, so labels
take part in the spacing like boxes. Lengths are in inches. Pure.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SWEEPS = 24
GAP = 0.28
"""Between neighbours of a row."""
LANE = 0.06
"""Width of an edge on its way through a row."""
LOOP = 0.4
"""Reach of an edge from a box to itself."""
PULLS = 400
STRAIGHT = 6.0
"""Pull of a lane's own points on each other, beside that of a box."""


@dataclass(frozen=True)
class Link:
    """An edge as it was declared."""

    source: str
    target: str
    label: str = ""
    conditional: bool = False


@dataclass
class Spot:
    """A place in a row: a node's box, an edge's label, or an edge passing through."""

    name: str
    row: int
    width: float
    loop: float = 0.0
    """Room for an edge to itself, on the right."""
    pull: float = 1.0
    """Weight of this spot's wish to have its neighbours near."""
    x: float = 0.0
    above: list[Spot] = field(default_factory=list, repr=False)
    below: list[Spot] = field(default_factory=list, repr=False)


@dataclass(frozen=True)
class Lane:
    """The way of one edge: its spots from upper to lower end."""

    link: Link
    spots: Sequence[Spot]
    backwards: bool

    @property
    def label_spot(self) -> Spot:
        return self.spots[-2] if self.backwards else self.spots[1]


@dataclass(frozen=True)
class Layout:
    """Where everything stands. Even rows hold boxes, odd rows hold labels."""

    boxes: Mapping[str, Spot]
    lanes: Sequence[Lane]
    loops: Sequence[Link]
    rows: int

    @property
    def spots(self) -> list[Spot]:
        found = {id(spot): spot for spot in self.boxes.values()}
        found.update({id(spot): spot for lane in self.lanes for spot in lane.spots})
        return list(found.values())


def lay_out(widths: Mapping[str, float], links: Sequence[Link], label_width: Mapping[str, float]) -> Layout:
    """Place nodes (by name, in the order of reading) and edges; `label_width` gives a label's width."""
    order = {name: position for position, name in enumerate(widths)}
    loops = [link for link in links if link.source == link.target]
    ways = [link for link in links if link.source != link.target]
    ranks = _ranks(order, ways)
    rooms = {link.source: LOOP + label_width.get(link.label, 0.0) for link in loops}
    boxes = {name: Spot(name, 2 * ranks[name], width, rooms.get(name, 0.0)) for name, width in widths.items()}
    lanes = [_lane(link, boxes, order, label_width) for link in ways]
    rows = _rows([spot for lane in lanes for spot in lane.spots] + list(boxes.values()))
    _order(rows)
    _place(rows)
    return Layout(boxes, lanes, loops, len(rows))


def _ranks(order: Mapping[str, int], links: Sequence[Link]) -> dict[str, int]:
    """Longest way from the top, each edge taken from the node declared earlier to the later one."""
    ranks = dict.fromkeys(order, 0)
    above = defaultdict(set)
    for link in links:
        first, last = sorted((link.source, link.target), key=lambda name: order[name])
        above[last].add(first)
    for name in order:
        ranks[name] = max((ranks[other] + 1 for other in above[name]), default=0)
    return ranks


def _lane(
    link: Link, boxes: Mapping[str, Spot], order: Mapping[str, int], label_width: Mapping[str, float]
) -> Lane:
    backwards = order[link.source] > order[link.target]
    ends = (boxes[link.source], boxes[link.target])
    top, bottom = reversed(ends) if backwards else ends
    # The longer an edge, the less it pulls on its boxes: it is the one to bend.
    pull = 1 / (bottom.row - top.row) ** 2
    between = [Spot("", row, LANE, pull=pull) for row in range(top.row + 1, bottom.row)]
    lane = Lane(link, [top, *between, bottom], backwards)
    lane.label_spot.width = max(LANE, label_width.get(link.label, 0.0))
    for upper, lower in zip(lane.spots, lane.spots[1:], strict=False):
        upper.below.append(lower)
        lower.above.append(upper)
    return lane


def _rows(spots: Sequence[Spot]) -> list[list[Spot]]:
    unique = {id(spot): spot for spot in spots}.values()
    rows: list[list[Spot]] = [[] for _ in range(1 + max(spot.row for spot in unique))]
    for spot in unique:
        rows[spot.row].append(spot)
    return rows


def _order(rows: list[list[Spot]]) -> None:
    """Order each row by where its neighbours stand, sweeping down and up; the order with fewest crossings stays."""
    best, kept = _crossings(rows), [list(row) for row in rows]
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            positions = _positions(rows)
            row.sort(key=lambda spot: _middle(spot.above if down else spot.below, positions, spot))
        found = _crossings(rows)
        if found < best:
            best, kept = found, [list(row) for row in rows]
    for row, order in zip(rows, kept, strict=True):
        row[:] = order


def _positions(rows: Sequence[Sequence[Spot]]) -> dict[int, float]:
    return {id(spot): position / max(1, len(row) - 1) for row in rows for position, spot in enumerate(row)}


def _middle(neighbours: Sequence[Spot], positions: Mapping[int, float], spot: Spot) -> float:
    found = [positions[id(other)] for other in neighbours]
    return sum(found) / len(found) if found else positions[id(spot)]


def _crossings(rows: Sequence[Sequence[Spot]]) -> int:
    total = 0
    for row in rows[:-1]:
        below = {id(spot): position for row in rows for position, spot in enumerate(row)}
        ends = [(index, below[id(other)]) for index, spot in enumerate(row) for other in spot.below]
        total += sum(
            (a - c) * (b - d) < 0 for i, (a, b) in enumerate(ends) for c, d in ends[i + 1 :] if a != c
        )
    return total


def _place(rows: Sequence[Sequence[Spot]]) -> None:
    """Pull every spot towards its neighbours without changing the order or letting any two touch."""
    for row in rows:
        _settle(row, [0.0] * len(row))
    for sweep in range(PULLS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            _settle(row, [_pull(spot) for spot in row])


def _pull(spot: Spot) -> float:
    """Where a spot would like to be: amid its neighbours; lanes weigh more, so that long edges run straight."""
    neighbours = [*spot.above, *spot.below]
    if not neighbours:
        return spot.x
    weights = [other.pull if spot.name else (1.0 if other.name else STRAIGHT) for other in neighbours]
    return sum(w * o.x for w, o in zip(weights, neighbours, strict=True)) / sum(weights)


def _settle(row: Sequence[Spot], wanted: Sequence[float]) -> None:
    """The places nearest to the wanted ones in which neighbours keep their distance (least squares)."""
    offsets = [0.0]
    for left, right in itertools.pairwise(row):
        offsets.append(offsets[-1] + left.width / 2 + left.loop + GAP + right.width / 2)
    blocks: list[tuple[float, int]] = []
    for want, offset in zip(wanted, offsets, strict=True):
        mean, size = want - offset, 1
        while blocks and blocks[-1][0] > mean:
            before, count = blocks.pop()
            mean, size = (before * count + mean * size) / (count + size), count + size
        blocks.append((mean, size))
    places = [mean for mean, size in blocks for _ in range(size)]
    for spot, place, offset in zip(row, places, offsets, strict=True):
        spot.x = place + offset
