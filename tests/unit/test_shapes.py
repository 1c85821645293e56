"""The shapes of a graph connect what they say and stay inside the picture."""

from __future__ import annotations

import pytest
from langchain_core.runnables.graph import Graph

from graph.pictures.shapes import BOX_HEIGHT, shapes


def drawn() -> Graph:
    graph = Graph()
    names = ("__start__", "ask", "act", "__end__")
    start, ask, act, end = (graph.add_node(_nothing, id=name) for name in names)
    graph.add_edge(start, ask)
    graph.add_edge(ask, act, "tools", conditional=True)
    graph.add_edge(ask, act, "retry", conditional=True)
    graph.add_edge(act, ask, "results", conditional=True)
    graph.add_edge(act, act, "again", conditional=True)
    graph.add_edge(ask, end, "answer", conditional=True)
    return graph


def _nothing(value: object) -> object:
    return value


def test_every_curve_runs_from_the_edge_of_its_source_to_that_of_its_target() -> None:
    figure = shapes(drawn())
    boxes = {box.name: box for box in figure.boxes}
    for curve in figure.curves:
        for (x, y), name in ((curve.points[0], curve.source), (curve.points[-1], curve.target)):
            box = boxes[name]
            on_side = abs(x - box.x) == pytest.approx(box.width / 2) and abs(y - box.y) < BOX_HEIGHT / 2
            on_top = abs(y - box.y) == pytest.approx(BOX_HEIGHT / 2) and abs(x - box.x) < box.width / 2
            assert on_side or on_top, curve
        assert len(curve.points) % 3 == 1


def test_edges_with_the_same_ends_are_one_and_ways_back_are_known() -> None:
    curves = {(curve.source, curve.target): curve for curve in shapes(drawn()).curves}
    assert curves["ask", "act"].label == "tools / retry"
    backwards = {ends for ends, curve in curves.items() if curve.backwards}
    assert backwards == {("act", "ask"), ("act", "act")}


def test_the_picture_holds_everything() -> None:
    figure = shapes(drawn())
    xs = [x for curve in figure.curves for x, _ in (*curve.points, curve.label_at)]
    ys = [y for curve in figure.curves for _, y in (*curve.points, curve.label_at)]
    assert figure.left < min(xs)
    assert max(xs) < figure.left + figure.width
    assert figure.top < min(ys)
    assert max(ys) < figure.top + figure.height
