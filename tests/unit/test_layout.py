"""The drawn graph is readable: nothing overlaps, every edge connects what it says."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from graph.pictures.layout import Layout, Link, lay_out

NAMES = [f"node_{number}" for number in range(8)]


def laid_out(links: list[Link]) -> Layout:
    return lay_out(dict.fromkeys(NAMES, 1.0), links, {link.label: 0.8 for link in links})


@st.composite
def graphs(draw: st.DrawFn) -> list[Link]:
    pairs = draw(st.sets(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=16))
    return [Link(source, target, draw(st.sampled_from(["", "label"]))) for source, target in sorted(pairs)]


@given(graphs())
@settings(max_examples=60, deadline=None)
def test_boxes_and_labels_of_a_row_never_overlap(links: list[Link]) -> None:
    for left, right in combinations(sorted(laid_out(links).spots, key=lambda spot: spot.x), 2):
        if left.row == right.row:
            assert right.x - left.x >= (left.width + right.width) / 2 + left.loop


@given(graphs())
@settings(max_examples=60, deadline=None)
def test_every_edge_runs_from_its_source_to_its_target_row_by_row(links: list[Link]) -> None:
    layout = laid_out(links)
    assert {lane.link for lane in layout.lanes} | set(layout.loops) == set(links)
    for lane in layout.lanes:
        ends = [lane.spots[0].name, lane.spots[-1].name]
        assert ends == sorted(ends)
        assert ends == (
            [lane.link.target, lane.link.source] if lane.backwards else [lane.link.source, lane.link.target]
        )
        rows = [spot.row for spot in lane.spots]
        assert rows == list(range(rows[0], rows[-1] + 1))


def test_an_edge_to_an_earlier_node_runs_backwards() -> None:
    layout = laid_out([Link("node_0", "node_1"), Link("node_1", "node_0", "again")])
    assert [lane.backwards for lane in layout.lanes] == [False, True]
    assert layout.boxes["node_0"].row < layout.boxes["node_1"].row


def test_a_straight_chain_stands_in_one_column() -> None:
    layout = laid_out([Link(a, b) for a, b in pairwise(NAMES)])
    assert {round(spot.x, 3) for spot in layout.boxes.values()} == {0.0}
