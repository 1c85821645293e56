"""What a turn is measured by, as an OpenTelemetry collector receives it, and what its log lines carry (O5)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from opentelemetry import metrics
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from structlog.testing import LogCapture

from nodes.turn_telemetry import ending
from nodes.versions import served
from tests.support.collector import Collector
from tests.support.model_replies import Reply, tool_call
from tests.support.model_server import ModelServer, RoleQueues
from tests.support.tool_calls import raising, returning, tool
from tests.support.turns import Talk, business, talking


@pytest.fixture(scope="module")
def meters() -> Iterator[tuple[Collector, MeterProvider]]:
    """The SDK as an operator configures it; it stays that of this process."""
    with Collector() as collector:
        reader = PeriodicExportingMetricReader(
            OTLPMetricExporter(f"{collector.url}/v1/metrics"), export_interval_millis=1e9
        )
        provider = MeterProvider([reader])
        metrics.set_meter_provider(provider)
        yield collector, provider
        provider.shutdown()


async def test_a_collector_receives_outcomes_durations_tokens_queue_and_circuits(
    database_url: str,
    tmp_path: Path,
    server: ModelServer,
    script: RoleQueues,
    meters: tuple[Collector, MeterProvider],
) -> None:
    collector, provider = meters
    tools = [tool("good", returning(1)), tool("bad", raising(RuntimeError("no")))]
    script.add("chat", tool_call("good"), Reply("Done."), tool_call("bad"), Reply("It failed."))
    script.add("chat", tool_call("invented"), Reply("There is no such thing."))
    async with talking(
        database_url,
        tmp_path,
        server,
        tools,
        steward_breaker_failures=1,
        steward_tool_attempts=1,
        steward_long_term_memory="on",
    ) as talk:
        for text in ("one", "two", "three", ""):
            await talk.say(text)
        await asyncio.to_thread(provider.force_flush)
        forced_in_the_loop = provider.force_flush()
    assert forced_in_the_loop
    by_outcome = collector.values(
        "steward.tool.calls", "gen_ai.tool.name", "steward.tool.outcome", "error.type"
    )
    assert by_outcome[("good", "ok", None)] == 1
    assert by_outcome[("bad", "error", "internal")] == 1
    assert by_outcome[("unknown", "error", "unknown_tool")] == 1
    assert collector.counts("steward.tool.duration", "gen_ai.tool.name") == {"good": 1, "bad": 1}
    assert collector.values("steward.tool.breaker", "gen_ai.tool.name") == {"bad": 2}
    assert collector.counts("gen_ai.client.operation.duration", "gen_ai.operation.name") == {"chat": 6}
    assert collector.counts("gen_ai.client.token.usage", "gen_ai.token.type") == {"input": 6, "output": 6}
    ends = collector.values("steward.turns", "steward.turn.end", "steward.intent")
    assert ends == {("answered", "chat"): 3, ("not_served", "none"): 1}
    assert collector.counts("steward.turn.duration", "steward.turn.end")["answered"] == 3


async def test_the_queue_is_reported_by_status(
    database_url: str,
    tmp_path: Path,
    server: ModelServer,
    script: RoleQueues,
    meters: tuple[Collector, MeterProvider],
) -> None:
    collector, provider = meters
    script.add("chat", Reply("Noted."))
    async with talking(database_url, tmp_path, server, [], steward_long_term_memory="on") as talk:
        await talk.say("I am allergic to peanuts.")
        await asyncio.to_thread(provider.force_flush)
    found = collector.values("steward.memory.queue.jobs", "steward.job.status")
    assert found == {"todo": 1, "scheduled": 0, "doing": 0, "failed": 0}


ROUTE: Any = {"intents": [{"name": "chat"}], "ask": False}


@pytest.mark.parametrize(
    ("state", "end"),
    [
        ({"route": ROUTE}, "answered"),
        ({"route": {**ROUTE, "ask": True}}, "clarified"),
        ({"route": None}, "not_served"),
        ({"route": ROUTE, "stopped_because": "time"}, "time"),
        ({"route": ROUTE, "handoff": {"reason": "asked for"}}, "handed_over"),
        ({"route": ROUTE, "stopped_because": "unrecoverable", "fault": "f1"}, "fault"),
    ],
)
def test_a_turn_is_counted_by_how_it_ended(state: Any, end: str) -> None:
    assert ending(state) == end


@pytest.fixture
def lines() -> Iterator[list[Any]]:
    """Log lines with what is bound to them, of every level."""
    captured = LogCapture()
    structlog.configure(processors=[structlog.contextvars.merge_contextvars, captured])
    yield captured.entries
    structlog.reset_defaults()


async def test_every_line_of_a_turn_has_its_ids_and_those_of_a_call_the_calls(
    database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues, lines: list[Any]
) -> None:
    async def chatty(*_: Any) -> str:
        structlog.get_logger("a.business").info("said by the tool")
        await asyncio.to_thread(structlog.get_logger("a.business").info, "said in a thread")
        return "done"

    script.add("chat", tool_call("chatty"), Reply("Done."), tool_call("chatty"), Reply("Done."))
    async with talking(database_url, tmp_path, server, [tool("chatty", chatty)]) as talk:
        lines.clear()
        states = [await talk.say("one"), await talk.say("two")]
        turn_lines = list(lines)
    assert {line["turn_id"] for line in turn_lines} == {state["turn"]["id"] for state in states}
    assert {line["thread_id"] for line in turn_lines} == {talk.thread_id}
    assert {line["node"] for line in turn_lines} <= {"route", "call_model", "execute_tools"}
    of_calls = [line for line in turn_lines if line["node"] == "execute_tools"]
    ids = {call["id"] for state in states for call in state["tool_calls"]}
    assert {line["call_id"] for line in of_calls} == ids
    assert {"said by the tool", "said in a thread", "tool finished"} <= {line["event"] for line in of_calls}


async def test_a_turn_records_what_it_was_served_with(
    database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", Reply("Hello."))
    async with talking(database_url, tmp_path, server, [tool("probe", returning(1))]) as talk:
        state = await talk.say("hello")
        rows = await _ledger(talk)
    versions = state["turn"]["versions"]
    assert versions["business"] == "small/1"
    assert versions["models"]["chat"] == "chat"
    assert versions["models"]["router"] == "router"
    assert len(versions["prompts"]) == 12
    assert [(row["business"], row["prompts"]) for row in rows] == [("small/1", versions["prompts"])]


def test_the_version_of_the_prompts_changes_with_any_text_a_model_is_given() -> None:
    plain = business([])
    schema = {"type": "function", "function": {"name": "probe", "description": "Probes."}}
    found = {
        served(plain, []).prompts,
        served(plain, [schema]).prompts,
        served(business([tool("probe", returning(1))]), []).prompts,
    }
    assert len(found) == 2  # which tools an intent names is no text
    assert served(plain, []) == served(business([]), [])


async def _ledger(talk: Talk) -> list[dict[str, Any]]:
    return await talk.agent.services.database.fetch(
        "SELECT business, prompts FROM token_usage WHERE thread_id = %s", (talk.thread_id,)
    )


def test_without_an_endpoint_for_telemetry_nothing_of_the_sdk_is_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from graph import telemetry

    def loaded() -> None:
        raise AssertionError("the SDK was loaded")

    monkeypatch.setattr(telemetry, "_configure", loaded)
    for name in telemetry.ENDPOINTS:
        monkeypatch.delenv(name, raising=False)
    telemetry.export_telemetry()
    assert logging.getLogger("opentelemetry").level == logging.NOTSET
