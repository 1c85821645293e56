"""What becomes of a turn in which a stage fails for a reason that nobody foresaw: an answer, and an intact thread."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from uuid import uuid4

import structlog
from langchain_core.messages import AIMessage
from langgraph.errors import GraphBubbleUp

from memory.errors import StewardError
from memory.masking import mask
from nodes.messages import new_id
from nodes.run import Node, Run
from nodes.state import AgentState, fresh_turn
from nodes.texts import language_of, say

log = structlog.get_logger(__name__)

_SKIPPED = frozenset({"assemble_context", "execute_tools"})
"""Stages on the way from a fault to the end of the turn; they have nothing left to do."""
_NOT_MISSED: Mapping[str, AgentState] = {"recall_memory": {"recalled": []}, "write_memory": {}}
"""Stages without which the turn is served all the same, and what they leave then."""


def served(stage: str, node: Node) -> Node:
    """The stage, which never fails the turn. Errors of the house say themselves what to do, and the graph's own signals
    are none."""

    async def serve(state: AgentState, run: Run) -> AgentState:
        if state.get("fault") and stage in _SKIPPED:
            return {}
        try:
            return await node(state, run)
        except (StewardError, GraphBubbleUp):
            raise
        except Exception as error:
            if stage == "request_approval":
                raise  # it would be asked again, and fail again, without end
            return _after_fault(stage, state, error)

    return serve


def _after_fault(stage: str, state: AgentState, error: Exception) -> AgentState:
    """Log the error under an id; the update that leads the turn to its end with a polite answer.

    A draft that was only to be reviewed is given out as it is.
    """
    fault = uuid4().hex[:12]
    trace = mask("".join(traceback.format_exception(error)))
    log.error("stage failed", node=stage, fault=fault, error=trace)
    if stage in _NOT_MISSED:
        return _NOT_MISSED[stage]
    ended: AgentState = {"draft": None, "review": None, "retry": None}
    draft = state.get("draft")
    if stage == "reflect" and draft is not None:
        final = draft.model_copy(update={"id": new_id("answer")})
        return {**ended, "messages": [final], "answer": final.text}
    text = say("internal_fault", _locale(stage, state))
    if stage == "open_turn":
        ended = {**fresh_turn(), **ended}
    return {
        **ended,
        "messages": [AIMessage(text, id=new_id("answer"))],
        "answer": text,
        "stopped_because": "unrecoverable",
        "fault": fault,
    }


def _locale(stage: str, state: AgentState) -> str:
    turn = state.get("turn")
    if turn and stage != "open_turn":
        return turn["locale"]
    messages = state.get("messages", [])
    return language_of(messages[-1].text if messages else "", turn["locale"] if turn else None)
