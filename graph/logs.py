"""Structured logs: one line an event, on standard error, with secrets and personal data masked (M10, O5)."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

from graph.settings import Settings
from memory.masking import mask

QUIET = (
    "httpx",
    "httpx2",
    "httpcore",
    "openai",
    "psycopg",
    "psycopg.pool",
    "langgraph",
    "mcp",
    "matplotlib",
)
"""Libraries whose own logs are of use only to whoever debugs them."""
SILENT = ("procrastinate",)
"""Libraries that tell with a stack trace what our own lines say."""

IDENTIFIERS = frozenset(
    {"thread_id", "turn_id", "call_id", "node", "tool", "event", "level", "logger", "timestamp"}
)
"""Fields with names of ours; `event` is masked all the same."""

Event = MutableMapping[str, Any]

_COMMON = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.stdlib.PositionalArgumentsFormatter(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)


def configure_logs(settings: Settings) -> None:
    """Logs of this process as the settings ask for: level, and text for people or JSON for machines.

    What libraries log goes the same way, and is masked like our own.
    """
    level = logging.getLevelNamesMapping()[settings.steward_log_level.upper()]
    structlog.configure(
        processors=[*_COMMON, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter(as_json=settings.steward_log_format == "json"))
    logging.basicConfig(handlers=[handler], level=level, force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    _silence()


def _silence() -> None:
    for name in SILENT:
        logging.getLogger(name).setLevel(logging.CRITICAL)


def hand_logs_to_host() -> None:
    """Without a configuration of the host's: our lines go to `logging`, masked, and its levels decide."""
    if structlog.is_configured():
        return
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.contextvars.merge_contextvars,
            structlog.processors.format_exc_info,
            mask_event,
            structlog.processors.KeyValueRenderer(key_order=["event"]),
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )


def _formatter(*, as_json: bool) -> logging.Formatter:
    console = structlog.dev.ConsoleRenderer(
        colors=sys.stderr.isatty(), pad_event_to=0, exception_formatter=structlog.dev.plain_traceback
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_COMMON,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            mask_event,
            structlog.processors.JSONRenderer(ensure_ascii=False) if as_json else console,
        ],
    )


def mask_logs_of_server() -> None:
    """Put the mask into the log configuration that the server brings, before its last step."""
    _silence()
    processors = list(structlog.get_config()["processors"])
    if mask_event not in processors:
        structlog.configure(processors=[*processors[:-1], mask_event, *processors[-1:]])


def mask_event(_logger: object, _method: str, event: Event) -> Event:
    """A structlog processor: every text that is not an id of ours goes through the mask."""
    for name, value in event.items():
        if name == "event" or name not in IDENTIFIERS:
            event[name] = _masked(value)
    return event


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, dict):
        return {key: _masked(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(inner) for inner in value]
    if isinstance(value, BaseException):
        return mask(f"{type(value).__name__}: {value}")
    return value
