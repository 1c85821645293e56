"""A turn's way through the graph, read from the checkpoints that it left. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict

from langgraph.constants import END, START
from langgraph.types import StateSnapshot

Edge = tuple[str, str]
NOT_RUN = frozenset({"update", "fork", "input"})
"""Sources of checkpoints before which nothing ran: state written from outside, or a new message."""


@dataclass(frozen=True)
class Point:
    """A checkpoint: what runs, or ran, next."""

    at: datetime
    nodes: tuple[str, ...]
    source: str
    asked: bool
    """A node stopped here to ask a person."""
    error: str


class Step(TypedDict):
    """Nodes that ran side by side."""

    nodes: list[str]
    at: str
    seconds: float | None
    """None where they have not ended."""
    asked: bool
    """A person was asked; the seconds are mostly theirs."""
    error: str


class Way(TypedDict):
    """The whole way."""

    steps: list[Step]
    taken: list[Edge]
    """Edges of the graph in the order of their first use, each once."""


def point(snapshot: StateSnapshot) -> Point:
    """What a checkpoint says of the way."""
    error = next((task.error for task in snapshot.tasks if task.error), None)
    return Point(
        at=datetime.fromisoformat(snapshot.created_at or ""),
        nodes=tuple(dict.fromkeys(task.name for task in snapshot.tasks)),
        source=(snapshot.metadata or {}).get("source", "loop"),
        asked=any(task.interrupts for task in snapshot.tasks),
        error=str(error) if error else "",
    )


def way(points: Sequence[Point], edges: Collection[Edge]) -> Way:
    """The way through a graph with these edges; the points in the order of time."""
    steps: list[Step] = []
    taken: dict[Edge, None] = {}
    before: tuple[str, ...] = (START,)
    for place, here in enumerate(points):
        after = points[place + 1] if place + 1 < len(points) else None
        reached = here.nodes or (END,)
        taken.update(dict.fromkeys((a, b) for a in before for b in reached if (a, b) in edges))
        ran = after is not None and after.source not in NOT_RUN
        if here.nodes and (ran or after is None):
            steps.append(_step(here, after))
        before = here.nodes if ran else ()
    return {"steps": steps, "taken": list(taken)}


def _step(here: Point, after: Point | None) -> Step:
    return {
        "nodes": list(here.nodes),
        "at": here.at.isoformat(),
        "seconds": (after.at - here.at).total_seconds() if after else None,
        "asked": here.asked,
        "error": here.error,
    }
