"""The limits of a turn: when one is reached, a last answer without tools ends it (G7). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nodes.settings import NodeSettings
from nodes.state import StopReason, Turn

LAST_SECONDS = 15.0
"""Kept of the wall-clock budget for the last answer."""

_REASONS: Mapping[StopReason, str] = {
    "model_calls": "it has taken too many steps",
    "tool_calls": "too many tools were called",
    "time": "it has taken too long",
    "tokens": "it has used too many tokens",
    "repeated_call": "the same call was made again and again",
    "unrecoverable": "a step cannot be completed",
    "model_unavailable": "the model is unavailable",
}


def limit_reached(turn: Turn, settings: NodeSettings, now: float) -> StopReason | None:
    """The first limit that the turn has reached before its next model call; `now` in Unix seconds."""
    if turn["model_calls"] >= settings.steward_max_model_calls:
        return "model_calls"
    if turn["tool_calls"] >= settings.steward_max_tool_calls:
        return "tool_calls"
    if now >= turn["deadline"] - min(LAST_SECONDS, settings.steward_turn_seconds / 2):
        return "time"
    if turn["tokens"] >= settings.steward_turn_tokens:
        return "tokens"
    return None


def notice(reason: StopReason) -> str:
    """Last word to the model in a turn that a limit ended."""
    return (
        "<notice>\nThis turn has to end now: "
        f"{_REASONS[reason]}. No tool can be called any more. Answer the customer from what is known so far, in "
        "their language, and say plainly what could not be done and what they can do next.\n</notice>"
    )


def decided_notice(tools: Sequence[str]) -> str:
    """Word to the model in a run that staff, not the customer, have set going."""
    return (
        f"<notice>\nA colleague has just decided on what was waiting for approval ({', '.join(tools)}); the results "
        "above say what came of it. The customer has written nothing new. Tell them the outcome, in their language.\n"
        "</notice>"
    )
