"""Short ways to make tools, calls and scopes, and to run them through a real engine."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from typing import Any, cast

from memory.business_state import BusinessState
from memory.database import Database
from tools.calls import CallScope, Decision, Envelope, Outcome, PreparedCall, RawCall
from tools.engine import ToolEngine
from tools.envelope import ENVELOPE_KEYS, render
from tools.errors import ERROR_KINDS
from tools.reduce import Compactor
from tools.registry import ToolRegistry
from tools.settings import ToolSettings
from tools.spec import Arguments, ToolContext, ToolSpec

_numbers = count(1)
ARGUMENTS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "x": {"type": "integer", "description": "A number."},
        "text": {"type": "string", "description": "A text."},
    },
    "additionalProperties": False,
}


def tool(name: str, run: Callable[..., Awaitable[Any]], **options: Any) -> ToolSpec:
    """A tool from an async function of (args, context)."""
    options.setdefault("parameters", ARGUMENTS)
    return ToolSpec(name=name, description=f"Does {name}.", run=run, **options)


def returning(value: Any) -> Callable[[Arguments, ToolContext], Awaitable[Any]]:
    async def run(args: Arguments, context: ToolContext) -> Any:
        return value

    return run


def raising(error: BaseException) -> Callable[[Arguments, ToolContext], Awaitable[Any]]:
    async def run(args: Arguments, context: ToolContext) -> Any:
        raise error

    return run


def call(name: str, id: str | None = None, **args: Any) -> RawCall:
    return RawCall(id or f"call_{next(_numbers)}", name, args)


def scope(**given: Any) -> CallScope:
    number = next(_numbers)
    plain = CallScope(
        user_id="user_123",
        thread_id=f"thread-{number}",
        turn_id=f"turn-{number}",
        locale="en",
        timezone="Asia/Shanghai",
        now=datetime(2024, 5, 21, 9, tzinfo=UTC),
    )
    return replace(plain, **given)


@dataclass
class Bench:
    """An engine with some tools, and the scope of one turn."""

    database: Database
    tools: Sequence[ToolSpec]
    settings: Mapping[str, Any] = field(default_factory=dict)
    compactor: Compactor | None = None
    scope: CallScope = field(default_factory=scope)
    events: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        settings = ToolSettings(_env_file=None, **self.settings)  # type: ignore[call-arg]
        registry = ToolRegistry(self.tools)
        state = BusinessState(self.database)
        self.engine = ToolEngine(registry, self.database, settings, state, self.compactor)
        self.scope = replace(self.scope, offered=tuple(spec.name for spec in self.tools))

    async def prepare(self, *calls: RawCall, scope: CallScope | None = None) -> list[PreparedCall | Outcome]:
        return await self.engine.prepare(calls, scope or self.scope)

    async def run(
        self,
        *calls: RawCall,
        scope: CallScope | None = None,
        decisions: Mapping[str, Decision] | None = None,
    ) -> list[Outcome]:
        prepared = await self.prepare(*calls, scope=scope)
        return await self.engine.run(prepared, scope or self.scope, decisions or {}, self.events.append)

    async def one(self, name: str, **args: Any) -> Envelope:
        (outcome,) = await self.run(call(name, **args))
        return outcome.envelope

    async def rows(self) -> list[dict[str, Any]]:
        return await self.database.fetch(
            "SELECT * FROM tool_call WHERE thread_id = %s ORDER BY id", (self.scope.thread_id,)
        )

    def phases(self, call_id: str) -> list[str]:
        return [event["phase"] for event in self.events if event["call_id"] == call_id]


def check_envelope(envelope: Envelope, *, characters: int = 100_000) -> None:
    """T4, for any result."""
    assert envelope.keys() <= ENVELOPE_KEYS
    text = render(envelope)
    assert json.loads(text) == envelope
    assert len(text) <= characters
    text.encode()
    assert "\\u0000" not in text
    if envelope["status"] == "ok":
        assert "data" in envelope
        assert "error_kind" not in envelope
        assert "ref" not in envelope or envelope["omitted"]
    else:
        assert envelope["status"] == "error"
        assert envelope["error_kind"] in ERROR_KINDS
        assert envelope["error_desc"]
        assert isinstance(envelope["retryable"], bool)
        assert envelope["try_next"]
        assert "Traceback" not in text


def as_any(value: object) -> Any:
    return cast(Any, value)
