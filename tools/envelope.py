"""The one shape of every result that reaches the model (T4). Nothing else builds an envelope."""

from __future__ import annotations

import json
from typing import Final, cast

from tools.calls import Envelope
from tools.errors import ErrorKind
from tools.spec import JSON

ENVELOPE_KEYS: Final = frozenset(Envelope.__annotations__)

_RETRYABLE: Final[frozenset[ErrorKind]] = frozenset(
    {"unknown_tool", "invalid_arguments", "missing_argument", "ungrounded_argument", "unavailable"}
)
"""Kinds that another call can cure: with other arguments, or after a while."""

_TRY_NEXT: Final[dict[ErrorKind, str]] = {
    "unknown_tool": "Call one of the tools that are offered, by its exact name.",
    "invalid_arguments": "Correct the arguments named above and call the tool again.",
    "missing_argument": "Ask the user for what is missing; do not make it up.",
    "ungrounded_argument": "Ask the user for the value, or look it up with another tool; do not make it up.",
    "not_found": "Check the value with the user, or look for it with another tool.",
    "business": "Tell the user why it is not possible and what they can do instead.",
    "timeout": "Try once more if it matters, else say that it cannot be done right now, or hand over to a person.",
    "unavailable": "Go on without it, try later, or hand over to a person.",
    "denied": "Do not call it again; tell the user that it was not approved.",
    "cancelled": "Say that it was not finished; call it again only if the user wants that.",
    "in_doubt": "Do not repeat it. Look up whether it took effect, or hand over to a person.",
    "limit": "Answer from what is known, and say what could not be done.",
    "internal": "Apologise and go on without it, or hand over to a person.",
}


def success(data: JSON, *, ref: str | None = None, omitted: JSON = None) -> Envelope:
    """A result. `ref` and `omitted` belong together: what was cut, and where the whole can be read."""
    envelope: Envelope = {"status": "ok", "data": data}
    if ref is not None:
        envelope["ref"] = ref
    if omitted:
        envelope["omitted"] = omitted
    return envelope


def failure(
    kind: ErrorKind, description: str, *, retryable: bool | None = None, try_next: str | None = None
) -> Envelope:
    """An error, described for the model. `retryable` and `try_next` default to what the kind says."""
    return {
        "status": "error",
        "error_kind": kind,
        "error_desc": description,
        "retryable": kind in _RETRYABLE if retryable is None else retryable,
        "try_next": try_next or _TRY_NEXT[kind],
    }


def stored(value: JSON) -> Envelope:
    """An error envelope as it comes back from where it was kept."""
    if isinstance(value, dict) and value.get("status") == "error" and value.keys() <= ENVELOPE_KEYS:
        return cast(Envelope, value)
    return failure("cancelled", "The call was cut off before it had a result.")


def render(envelope: Envelope) -> str:
    """The text of the tool message: compact JSON, Chinese as it is written."""
    return dump(dict(envelope))


def dump(value: object) -> str:
    """Compact JSON of a JSON-native value. NaN and infinities are refused: they are not JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
