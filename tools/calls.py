"""A tool call on its way through the engine: as the model wrote it, as it will run, and as it came out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from typing_extensions import TypedDict

from tools.errors import ErrorKind
from tools.spec import Approval, Arguments, ToolSpec


@dataclass(frozen=True)
class RawCall:
    """A call as read from the model's message. `args` is None where the text could not be read."""

    id: str
    name: str
    args: Arguments | None
    text: str | None = None
    """The argument text as the model wrote it, where it was not a plain object."""
    error: str | None = None
    """Why the text could not be read, in words for the model."""


@dataclass(frozen=True)
class PreparedCall:
    """A call whose arguments are valid and grounded; it runs once its approval, if any, is settled."""

    raw: RawCall
    spec: ToolSpec
    args: Arguments
    notes: tuple[str, ...] = ()
    """Coercions that were made, for the log."""
    approval: Approval | None = None
    key: str | None = None
    """Idempotency key of the call as a person was asked for it, whatever they made of it."""

    @property
    def id(self) -> str:
        return self.raw.id


class Envelope(TypedDict, total=False):
    """What the model sees of any result (T4). `status` is always there."""

    status: Literal["ok", "error"]
    data: Any
    ref: str
    omitted: Any
    error_desc: str
    error_kind: ErrorKind
    retryable: bool
    try_next: str


@dataclass(frozen=True)
class Outcome:
    """What became of one call. Exactly one an id, whatever happened."""

    id: str
    name: str
    args: Arguments
    envelope: Envelope
    attempts: int = 1
    """How often it was tried, this time included; 0 where it was refused before it ran."""
    transient: bool = False
    """May be tried again by the graph: the tool is repeatable and attempts are left."""
    retry_after: float = 0.0
    """Seconds to wait before that."""
    identifiers: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    seconds: float = 0.0
    signals: Mapping[str, Any] = field(default_factory=dict)
    """What a tool asks of the graph itself (`handoff`), never shown to the model."""

    @property
    def ok(self) -> bool:
        return self.envelope["status"] == "ok"


@dataclass(frozen=True)
class Grounds:
    """Where an argument may stem from (T3). Texts are the user's own words, newest last."""

    user_texts: Sequence[str] = ()
    memories: Sequence[str] = ()


class Decision(TypedDict, total=False):
    """How an approval was settled, by call id in the state."""

    type: Literal["approve", "edit", "reject", "respond"]
    args: Arguments
    message: str
    by: Literal["customer", "staff"]
    key: str
    """That of the request."""


@dataclass(frozen=True)
class CallScope:
    """The turn that a batch of calls belongs to. Plain values."""

    user_id: str
    thread_id: str
    turn_id: str
    locale: str
    timezone: str
    now: Any
    intents: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    """Names of the tools that the model was offered, in order."""
    grounds: Grounds = field(default_factory=Grounds)
    attempts: Mapping[str, int] = field(default_factory=dict)
    """Attempts already made, by call id."""
    made: Sequence[tuple[str, Arguments]] = ()
    """Name and arguments of the calls of this turn that have a result already."""
    opened_in: str | None = None
    """The thread in which the turn was opened, where that is another one, of which this is a copy."""
