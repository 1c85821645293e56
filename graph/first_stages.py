"""The stages that a turn begins with run side by side, so neither can wait until the other has opened it.

`route` opens the turn in its own step; what it stores is stored with the route. `recall_memory` sees the turn as it is
being opened. A stage that is put in their place need not know of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from graph.faults import served
from nodes.open_turn import open_turn, turn_frame
from nodes.run import Node, Run
from nodes.state import AgentState, with_changes


def opening(stage: Node) -> Node:
    """The stage on a turn that it opens; a message that was answered in doing so is not handed to it."""
    open_it = served("open_turn", open_turn)

    async def opened(state: AgentState, run: Run) -> AgentState:
        begun = await open_it(state, run)
        if begun.get("answer") is None:
            begun = _joined(begun, await stage(_after(state, begun), run))
        if not state.get("handoff"):
            del begun["recalled"]  # being written beside this
        return begun

    return opened


def beside_opening(stage: Node) -> Node:
    """The stage on the turn that is opened beside it."""

    async def beside(state: AgentState, run: Run) -> AgentState:
        return await stage({**state, "turn": turn_frame(state, run)}, run)

    return beside


FIRST_STAGES: Mapping[str, Callable[[Node], Node]] = {"route": opening, "recall_memory": beside_opening}
"""What each is made to be, by name."""


def _after(state: AgentState, update: AgentState) -> AgentState:
    """The state as the update leaves it."""
    return {**state, **update, "messages": with_changes(state["messages"], update.get("messages", []))}


def _joined(first: AgentState, second: AgentState) -> AgentState:
    """Two updates as one."""
    messages = [*first.get("messages", []), *second.get("messages", [])]
    joined: AgentState = {**first, **second}
    return {**joined, "messages": messages} if messages else joined
