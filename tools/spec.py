"""What the engine knows of one tool: its schema, its behaviour, its guards. Plain data, no I/O."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from typing_extensions import TypeAliasType

if TYPE_CHECKING:
    from memory.business_state import BusinessState
    from memory.database import Database
    from tools.knowledge import Knowledge
    from tools.problems import FieldProblem

JSON = TypeAliasType("JSON", "bool | int | float | str | list[JSON] | dict[str, JSON] | None")
Arguments = dict[str, JSON]
Effect = Literal["read", "write"]
Approver = Literal["customer", "staff"]
EVERY_INTENT = "*"


@dataclass(frozen=True)
class ToolContext:
    """What a running tool may know and use. Never the model's words: only its validated arguments are."""

    user_id: str
    locale: str
    timezone: str
    now: datetime
    thread_id: str
    turn_id: str
    call_id: str
    idempotency_key: str
    database: Database
    state: BusinessState
    knowledge: Knowledge | None = None
    """The business's documents; None where it has none."""


@dataclass(frozen=True)
class Approval:
    """Who has to say yes before a call runs, and why (a sentence for that person)."""

    by: Approver
    reason: str


@dataclass(frozen=True)
class ToolReply:
    """What a tool returns that asks something of the graph besides its result (`{"handoff": {…}}`)."""

    data: Any
    signals: Mapping[str, Any]


Runner = Callable[[Arguments, ToolContext], Awaitable[Any]]
"""Returns anything; a ToolReply where it asks something of the graph."""
ApprovalRule = Callable[[Arguments, ToolContext], Awaitable["Approval | None"]]
Settle = Callable[[str, Arguments, ToolContext], Awaitable[Any]]
"""Given the idempotency key of a call in doubt: its result if it took effect, None if it did not."""
ArgumentCheck = Callable[[Arguments], Sequence["FieldProblem"]]
"""What the schema cannot say: problems of arguments that fit it already."""


@dataclass(frozen=True)
class ToolSpec:
    """One tool, declared once: by the `tool` decorator, from a JSON Schema, or from an MCP server."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """Strict JSON Schema of the arguments (an object, `additionalProperties` false)."""
    run: Runner
    check: ArgumentCheck | None = None
    fill_defaults: bool = True
    """Put the schema's defaults into the arguments; off where the tool (a server) knows its own."""
    effect: Effect = "read"
    engine: bool = False
    """Belongs to the engine itself; not counted in `max_tools`."""
    repeatable: bool | None = None
    """Safe to run again after a transient failure; None: as `effect` says (read yes, write no)."""
    timeout: float | None = None
    """Seconds; None: the setting."""
    alone: bool = False
    """Runs with no other call beside it."""
    approval: Approval | ApprovalRule | None = None
    grounded: Mapping[str, Literal["identifier", "detail"]] = field(default_factory=dict)
    """Arguments that must stem from somewhere: `identifier` (order number) from the user's words, memory or
    a declared identifier of a result; `detail` (contact, address, amount) from the user or the business."""
    identifiers: tuple[str, ...] = ()
    """Paths into a result (`order.items[].sku`) that name objects of the user's own."""
    details: tuple[str, ...] = ()
    """Paths into a result that hold contacts, addresses and amounts known to the business."""
    keep: tuple[str, ...] | Mapping[str, tuple[str, ...]] | None = None
    """Fields of a result that reach the model: paths, or paths by intent (`*` for the others)."""
    cache_seconds: float = 0
    """Time to live of a cached result; 0 for anything that can change under the customer's eyes."""
    cache_scope: Literal["user", "everyone"] = "user"
    settle: Settle | None = None
    intents: tuple[str, ...] = ()
    """Intents that offer it without listing it, `*` for all; for tools that the business does not know."""
    progress: Mapping[str, str] = field(default_factory=dict)
    """Sentence for the user while it runs, by language (`zh`, `en`), formatted with the arguments."""

    @property
    def can_repeat(self) -> bool:
        return self.effect == "read" if self.repeatable is None else self.repeatable
