"""Logs: one line an event on standard error, nothing in them that is personal or secret."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from graph.logs import SILENT, configure_logs, mask_event, mask_logs_of_server
from graph.settings import Settings


@pytest.fixture(autouse=True)
def _restore() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    silent = {name: logging.getLogger(name).level for name in SILENT}
    for name in SILENT:
        logging.getLogger(name).setLevel(logging.NOTSET)
    yield
    for name, before in silent.items():
        logging.getLogger(name).setLevel(before)
    structlog.reset_defaults()
    root.handlers[:], root.level = handlers, level


def configured(**settings: str) -> None:
    configure_logs(Settings(_env_file=None, **settings))  # type: ignore[call-arg, arg-type]


def test_events_are_json_lines_with_their_ids(capsys: pytest.CaptureFixture[str]) -> None:
    configured(steward_log_format="json", steward_log_level="info")
    with structlog.contextvars.bound_contextvars(thread_id="t1", turn_id="turn-1", node="route"):
        structlog.get_logger("nodes.route").info("routed", intent="order")
    written = json.loads(capsys.readouterr().err)
    assert written["event"] == "routed"
    assert (written["thread_id"], written["turn_id"], written["node"]) == ("t1", "turn-1", "route")
    assert (written["level"], written["logger"], written["intent"]) == ("info", "nodes.route", "order")


@pytest.mark.parametrize("style", ["json", "console"])
def test_personal_data_is_masked_in_fields_exceptions_and_foreign_logs(
    capsys: pytest.CaptureFixture[str], style: str
) -> None:
    configured(steward_log_format=style)
    log = structlog.get_logger("test")
    log.warning("电话 13800138123", arguments={"contact": ["li@example.com"]})
    try:
        raise ValueError("call 13800138123")
    except ValueError:
        log.exception("failed", error=ValueError("write li@example.com"))
    logging.getLogger("some.library").warning("mail to %s", "li@example.com")
    written = capsys.readouterr().err
    assert written.count("\n") >= 3
    assert "13800138123" not in written
    assert "li@example.com" not in written


def test_what_is_below_the_level_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    configured(steward_log_level="error")
    structlog.get_logger("test").warning("not this")
    logging.getLogger("httpx").warning("nor this")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("served", [False, True])
def test_the_queues_stack_traces_are_not_written(served: bool) -> None:
    if served:
        structlog.configure(processors=[structlog.processors.JSONRenderer()])
        mask_logs_of_server()
    else:
        configured(steward_log_level="info")
    assert not logging.getLogger("procrastinate.worker.memory").isEnabledFor(logging.ERROR)


def test_ids_stay_as_they_are() -> None:
    event = {"event": "x", "thread_id": "13800138123", "turn_id": "13800138123"}
    assert mask_event(None, "info", dict(event)) == event


def test_the_mask_joins_the_configuration_of_a_server_once() -> None:
    structlog.configure(processors=[structlog.processors.add_log_level, structlog.processors.JSONRenderer()])
    mask_logs_of_server()
    mask_logs_of_server()
    assert structlog.get_config()["processors"][1:2] == [mask_event]
    assert len(structlog.get_config()["processors"]) == 3
