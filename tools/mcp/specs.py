"""A server's tools as tools of the engine: names, effect, approval, and how they are called."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import structlog
from mcp.types import CallToolResult, Tool, ToolAnnotations

from memory.clean import clean_json, clean_text
from tools.declare import from_json_schema
from tools.errors import DeclarationError
from tools.mcp.config import ServerConfig
from tools.mcp.replies import data_of
from tools.names import protocol_names
from tools.spec import EVERY_INTENT, JSON, Approval, Arguments, Effect, Runner, ToolContext, ToolSpec

LONGEST_DESCRIPTION: Final = 2000
"""Characters; a server's own words, which every model call would carry."""
LARGEST_SCHEMA: Final = 20_000
"""Characters."""
IDEMPOTENCY_KEY: Final = "steward/idempotency-key"
"""In a call's `_meta`, for a server that can tell a repeated side effect by it."""

Call = Callable[[str, Mapping[str, Any], Mapping[str, Any]], Awaitable[CallToolResult]]

log = structlog.get_logger(__name__)


def tool_specs(server: str, config: ServerConfig, tools: Sequence[Tool], call: Call) -> list[ToolSpec]:
    """The tools that the file asks for; one that cannot be declared is left out with a warning."""
    if unmatched := config.unmatched([tool.name for tool in tools]):
        log.warning("rules for tools that the server has not", server=server, rules=unmatched)
    wanted = [tool for tool in tools if config.takes(tool.name)]
    names = protocol_names(f"{server}__{tool.name}" for tool in wanted)
    return list(_declared(server, config, wanted, names, call))


def _declared(
    server: str, config: ServerConfig, tools: Sequence[Tool], names: Mapping[str, str], call: Call
) -> Iterator[ToolSpec]:
    for tool in tools:
        try:
            yield _spec(names[f"{server}__{tool.name}"], server, config, tool, call)
        except (DeclarationError, RecursionError) as fault:
            log.warning("tool left out", tool=tool.name, server=server, fault=str(fault))


def _spec(name: str, server: str, config: ServerConfig, tool: Tool, call: Call) -> ToolSpec:
    hints = tool.annotations or ToolAnnotations()
    effect: Effect = config.effect_of(tool.name) or ("read" if hints.read_only_hint else "write")
    schema = _schema(tool)
    return from_json_schema(
        name,
        _description(tool),
        schema,
        _runner(tool.name, effect, call),
        effect=effect,
        repeatable=True if hints.idempotent_hint else None,
        timeout=config.timeout,
        approval=_approval(server, config, tool, effect, hints),
        grounded=config.grounded_of(tool.name, schema.get("properties", {})),
        identifiers=config.identifiers_of(tool.name),
        details=config.details_of(tool.name),
        cache_seconds=config.cache_seconds if effect == "read" else 0,
        intents=(EVERY_INTENT,) if config.intents is None else config.intents,
    )


def _schema(tool: Tool) -> dict[str, Any]:
    if len(json.dumps(tool.input_schema)) > LARGEST_SCHEMA:
        raise DeclarationError(
            f"Tool {tool.name!r}: its schema has more than {LARGEST_SCHEMA} characters. Make it smaller."
        )
    cleaned: Any = clean_json(tool.input_schema).value
    return dict(cleaned)


def _description(tool: Tool) -> str:
    words = clean_text(tool.description or "").strip()
    return words if len(words) <= LONGEST_DESCRIPTION else f"{words[:LONGEST_DESCRIPTION]}…"


def _approval(
    server: str, config: ServerConfig, tool: Tool, effect: Effect, hints: ToolAnnotations
) -> Approval | None:
    """As the file says; without a rule, the customer is asked before something is destroyed."""
    by = config.approval_of(tool.name)
    if by is None and effect == "write" and hints.destructive_hint:
        by = "customer"
    if by is None or by == "none":
        return None
    what = clean_text(tool.title or hints.title or tool.name)[:100]
    return Approval(by, f"{what} ({server}) changes something, and it may not be possible to undo it.")


def _runner(tool: str, effect: Effect, call: Call) -> Runner:
    async def run(args: Arguments, context: ToolContext) -> JSON:
        meta = {IDEMPOTENCY_KEY: context.idempotency_key} if effect == "write" else {}
        return data_of(await call(tool, args, meta))

    return run
