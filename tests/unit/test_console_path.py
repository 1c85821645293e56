"""A turn's way through the graph is read from its checkpoints alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from graph.server.console.path import Point, way

EDGES = {
    ("__start__", "begin"),
    ("begin", "ask"),
    ("begin", "recall"),
    ("ask", "model"),
    ("recall", "model"),
    ("model", "tools"),
    ("tools", "model"),
    ("model", "approval"),
    ("model", "__end__"),
    ("begin", "__end__"),
}
BEGUN = datetime(2024, 5, 27, tzinfo=UTC)


def points(*steps: tuple[str, ...], source: str = "loop", asked: bool = False) -> list[Point]:
    """One a second; the last has what is given."""
    made = [Point(BEGUN + timedelta(seconds=n), nodes, "loop", False, "") for n, nodes in enumerate(steps)]
    last = made[-1]
    return [*made[:-1], Point(last.at, last.nodes, source, asked, "")]


def test_nodes_side_by_side_are_one_step_and_all_their_edges_are_taken() -> None:
    found = way(points(("begin",), ("ask", "recall"), ("model",), ()), EDGES)
    assert [step["nodes"] for step in found["steps"]] == [["begin"], ["ask", "recall"], ["model"]]
    assert [step["seconds"] for step in found["steps"]] == [1.0, 1.0, 1.0]
    assert found["taken"] == [
        ("__start__", "begin"),
        ("begin", "ask"),
        ("begin", "recall"),
        ("ask", "model"),
        ("recall", "model"),
        ("model", "__end__"),
    ]


def test_an_edge_taken_twice_is_named_once_and_a_node_run_twice_is_two_steps() -> None:
    found = way(
        points(("begin",), ("ask",), ("model",), ("tools",), ("model",), ("tools",), ("model",), ()), EDGES
    )
    assert [step["nodes"] for step in found["steps"]].count(["tools"]) == 2
    assert found["taken"].count(("model", "tools")) == 1


def test_what_waits_for_a_person_has_not_ended() -> None:
    found = way(points(("begin",), ("ask",), ("model",), ("approval",), asked=True), EDGES)
    assert found["steps"][-1] == {
        "nodes": ["approval"],
        "at": (BEGUN + timedelta(seconds=3)).isoformat(),
        "seconds": None,
        "asked": True,
        "error": "",
    }
    assert ("model", "approval") in found["taken"]


def test_state_written_from_outside_is_no_step_of_the_graph() -> None:
    found = way(points(("begin",), ("ask",), ("model",), (), source="update"), EDGES)
    assert [step["nodes"] for step in found["steps"]] == [["begin"], ["ask"]]
    assert ("model", "__end__") not in found["taken"]


def test_a_silent_turn_goes_straight_to_the_end() -> None:
    assert way(points(("begin",), ()), EDGES)["taken"] == [("__start__", "begin"), ("begin", "__end__")]
