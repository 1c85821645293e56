"""What each model turned out to refuse or to demand: learned from its answers, kept while the process lives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nodes.endpoint_errors import CallFailed

Parameters = Mapping[str, Any]

OPTIONAL = (
    "temperature",
    "parallel_tool_calls",
    "stream_options",
    "response_format",
    "strict",
    "tool_choice",
    "max_tokens",
    "max_completion_tokens",
)
"""Parameters that a request can do without. `max_tokens` is tried under its other name first."""


@dataclass
class ModelQuirks:
    """One model's peculiarities."""

    refused: set[str] = field(default_factory=set)
    demands_reasoning: bool = False
    """It wants the reasoning text of its earlier messages back."""
    leaves_think_unopened: bool = False
    """Its reasoning ends with `</think>` but begins without a tag."""

    def fitted(self, parameters: Parameters, also: frozenset[str] = frozenset()) -> dict[str, Any]:
        """The parameters without what the model refuses, or is suspected to refuse (`also`)."""
        refused = self.refused | also
        kept = {name: value for name, value in parameters.items() if name not in refused}
        if "max_tokens" in parameters and "max_tokens" in refused and "max_completion_tokens" not in refused:
            kept["max_completion_tokens"] = parameters["max_tokens"]
        if "strict" in refused:
            kept = {name: _without_strict(value) for name, value in kept.items()}
        return kept


def refused_parameter(failure: CallFailed, sent: Parameters) -> str | None:
    """The optional parameter that a failed request was refused for; None where it failed for another reason."""
    if failure.kind != "bad_request" or failure.status not in (400, 422):
        return None
    present = [name for name in OPTIONAL if name in sent or (name == "strict" and _has_strict(sent))]
    parts = re.split(r"[.\[\]]+", failure.parameter or "")
    for name in present:
        if name in parts:
            return name
    if "strict" in present and "Invalid schema" in failure.detail:
        return "strict"
    mentions = {name: found.start() for name in present if (found := _mention(name, failure.detail))}
    return min(mentions, key=mentions.__getitem__) if mentions else None


def _mention(name: str, text: str) -> re.Match[str] | None:
    return re.search(rf"(?<![A-Za-z_]){name}(?![A-Za-z_])", text)


def _has_strict(value: object) -> bool:
    if isinstance(value, Mapping):
        return value.get("strict") is True or any(_has_strict(part) for part in value.values())
    return isinstance(value, (list, tuple)) and any(_has_strict(part) for part in value)


def _without_strict(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _without_strict(part) for k, part in value.items() if not (k == "strict" and part is True)}
    if isinstance(value, (list, tuple)):
        return [_without_strict(part) for part in value]
    return value
