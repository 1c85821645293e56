"""Structured logs: one line an event, on standard error, with secrets and personal data masked (M10, O5)."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

from graph.settings import Settings
from memory.masking import mask

QUIET = ("httpx", "httpcore", "openai", "psycopg", "psycopg.pool", "procrastinate", "langgraph", "matplotlib")
"""Libraries whose own logs are of use only to whoever debugs them."""

IDENTIFIERS = frozenset(
    {"thread_id", "turn_id", "call_id", "node", "tool", "event", "level", "logger", "timestamp"}
)
"""Fields with names of ours; `event` is masked all the same."""

Event = MutableMapping[str, Any]


def configure_logs(settings: Settings) -> None:
    """Logs of this process as the settings ask for: level, and text for people or JSON for machines."""
    level = logging.getLevelNamesMapping()[settings.steward_log_level.upper()]
    as_json = settings.steward_log_format == "json"
    last = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if as_json
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_event_to=0)
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *([structlog.processors.format_exc_info] if as_json else []),
            mask_event,
            last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )
    logging.basicConfig(
        stream=sys.stderr, level=level, format="%(levelname)s %(name)s: %(message)s", force=True
    )
    for name in QUIET:
        logging.getLogger(name).setLevel(max(level, logging.ERROR) if level > logging.DEBUG else level)


def mask_logs_of_server() -> None:
    """Put the mask into the log configuration that the server brings, before its last step."""
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
