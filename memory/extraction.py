"""A finished exchange, what a model may say it is worth remembering, and the gate in between.

The model is handed in from above as an `Extractor`. What it answers is a proposal: an item becomes memory only
if its evidence stands in the customer's own words, or in a fact that a tool confirmed, and it does not
say what foreign text says instead. So the recalled block, documents and free text of tools cannot plant anything.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from memory.borrowed import is_borrowed
from memory.clean import clean_text
from memory.evidence import Sources
from memory.masking import mask

MemoryType = Literal["fact", "preference", "decision", "state"]

LONGEST_KEY = 120
MOST_KEY_WORDS = 8
LONGEST_CONTENT = 1_000


@dataclass(frozen=True)
class Exchange:
    """One finished turn, as it is queued: masked, plain values only."""

    user_id: str
    thread_id: str
    turn_id: str
    customer: str
    """The customer's own words of this turn, nothing else."""
    answer: str
    """The answer they got."""
    said_at: datetime
    """When the customer wrote, with a time zone: relative dates count from here."""
    message_id: str | None = None
    """Id of the customer's message."""
    position: int = 0
    """Number of the turn within its thread, from 1; 0 where nobody counts."""
    timezone: str = "UTC"
    """IANA name of the customer's zone."""
    locale: str | None = None
    intents: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    """Objects it was about, such as order numbers."""
    confirmed: tuple[str, ...] = ()
    """Facts that a tool confirmed about the user's own data: declared fields, never free text."""
    after_job: int | None = None
    """The newest job when the run of this turn began: tells the turns that an erased user had begun before."""
    foreign: tuple[str, ...] = ()
    """Free text of results, documents and the like that the answer had before it: nothing that anybody here said."""

    def masked(self) -> Exchange:
        """The same exchange without personal data, in characters that Postgres takes."""
        return replace(
            self,
            customer=mask(clean_text(self.customer)),
            answer=mask(clean_text(self.answer)),
            confirmed=tuple(mask(clean_text(fact)) for fact in self.confirmed),
            foreign=tuple(mask(clean_text(text)) for text in self.foreign),
        )

    def to_json(self) -> dict[str, Any]:
        """JSON-native values, read back by `from_json`."""
        values = {**asdict(self), "said_at": self.said_at.isoformat()}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Exchange:
        """The exchange that `to_json` wrote; unknown fields of a newer version are left out."""
        known = {name: value[name] for name in cls.__dataclass_fields__ if name in value}
        for name in ("intents", "about", "confirmed", "foreign"):
            known[name] = tuple(known.get(name, ()))
        return cls(**{**known, "said_at": datetime.fromisoformat(value["said_at"])})


class MemoryItem(BaseModel):
    """One thing worth remembering, as the extractor states it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    key: str = Field(
        min_length=1, description="Short snake_case name of the kind of fact, such as delivery_day."
    )
    content: str = Field(min_length=1, description="The fact, in one sentence that stands alone.")
    type: MemoryType = Field(description="What is so, what is liked, or what was decided.")
    confidence: float = Field(
        ge=0, le=1, description="How sure it is that the customer meant this, lastingly."
    )
    importance: float = Field(0.5, ge=0, le=1, description="How much it matters for later service.")
    domains: list[str] = Field(default_factory=list, description="Intents it concerns, or general.")
    evidence: str = Field(description="The customer's own words that say so, quoted.")
    replaces: str | None = Field(None, description="The known key whose memory it changes, refines or ends.")


@dataclass(frozen=True)
class KnownMemory:
    """What the extractor is shown of a memory, so that the same kind of fact gets the same key."""

    key: str
    content: str
    type: str
    domains: tuple[str, ...] = ()


class Extractor(Protocol):
    """Reads one exchange. Raises when it failed; an empty list means that nothing is worth keeping."""

    def __call__(
        self, exchange: Exchange, known: Sequence[KnownMemory], /
    ) -> Awaitable[Sequence[MemoryItem]]: ...


@dataclass(frozen=True)
class SummariseRequest:
    """What is to be folded: an earlier summary, and the conversation that followed it (masked)."""

    earlier: str
    conversation: str
    user_id: str
    thread_id: str


@dataclass(frozen=True)
class Summary:
    """What a conversation comes to."""

    summary: str
    key_facts: Mapping[str, str] = field(default_factory=dict)


class Summariser(Protocol):
    """Makes one summary. Raises when it failed; nothing changes then."""

    def __call__(self, request: SummariseRequest, /) -> Awaitable[Summary]: ...


@dataclass(frozen=True)
class Admitted:
    """What the gate let through, and what it refused and why (for the log)."""

    long_term: tuple[MemoryItem, ...] = ()
    session: tuple[MemoryItem, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    """Reason by key."""


def admit(exchange: Exchange, items: Sequence[MemoryItem], *, confidence: float) -> Admitted:
    """Sort an extractor's items: sure ones for long-term memory, the others for the session alone."""
    own = (exchange.customer, *exchange.confirmed)
    sources = Sources(own)
    long_term: list[MemoryItem] = []
    session: list[MemoryItem] = []
    refused: dict[str, str] = {}
    for item in items:
        reason = _refusal(item, sources) or _borrowed(item, own, exchange.foreign)
        if reason:
            refused[item.key] = reason
        else:
            (long_term if item.confidence >= confidence else session).append(_stored_form(item))
    return Admitted(tuple(long_term), tuple(session), refused)


def _refusal(item: MemoryItem, sources: Sources) -> str | None:
    if item.type == "state":
        return "business state is written by tools alone"
    if not sources.contain(item.evidence):
        return "its evidence is neither in the customer's words nor confirmed by a tool"
    invented = sources.missing_identifiers(item.content)
    if invented:
        return f"nobody named {', '.join(invented)}"
    return None


def _borrowed(item: MemoryItem, own: Sequence[str], foreign: Sequence[str]) -> str | None:
    key = item.key.replace("_", " ")
    if len(item.key) > LONGEST_KEY or len(key.split()) > MOST_KEY_WORDS:
        return "its key is a sentence, not a name"
    if is_borrowed(item.content, own, foreign):
        return "it says what a result or a document says, not what the customer said"
    return None


def _stored_form(item: MemoryItem) -> MemoryItem:
    """Masked once more, since a model may join what was apart, and bounded."""
    return item.model_copy(
        update={
            "key": item.key.replace("\x00", "")[:LONGEST_KEY],
            "replaces": (item.replaces or "").replace("\x00", "")[:LONGEST_KEY] or None,
            "content": mask(item.content.replace("\x00", ""))[:LONGEST_CONTENT].strip(),
            "evidence": mask(item.evidence.replace("\x00", ""))[:LONGEST_CONTENT],
            "domains": [domain.strip().lower() for domain in item.domains if domain.strip()],
        }
    )
