"""What log and trace say of a call: ids and kinds, and nobody's secrets or personal data."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from structlog.testing import capture_logs

from memory.database import Database
from tests.support.tool_calls import Bench, call, raising, returning, tool

PHONE, SECRET = "13812345678", "sk-proj-abcdefghijklmnopqrstuvwx0123456789"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr("tools.events.tracer", provider.get_tracer("steward.tools"))
    yield exporter
    provider.shutdown()


async def test_a_call_is_a_span_with_the_conventions_names(
    database: Database, spans: InMemorySpanExporter
) -> None:
    bench = Bench(database, [tool("probe", returning(1)), tool("bad", raising(RuntimeError(SECRET)))])
    await bench.run(call("probe", "a", text=f"call {PHONE}"), call("bad", "b"))
    good, bad = sorted(
        spans.get_finished_spans(), key=lambda span: str(dict(span.attributes or {})["gen_ai.tool.call.id"])
    )
    attributes = dict(good.attributes or {})
    assert good.name == "execute_tool probe"
    assert attributes["gen_ai.operation.name"] == "execute_tool"
    assert attributes["gen_ai.tool.name"] == "probe"
    assert attributes["gen_ai.conversation.id"] == bench.scope.thread_id
    assert PHONE not in str(attributes)
    assert dict(bad.attributes or {})["error.type"] == "internal"
    assert bad.status.status_code is trace.StatusCode.ERROR
    assert SECRET not in bad.to_json()
    assert not bad.events


async def test_an_internal_error_is_in_the_log_in_full_under_the_id_the_model_was_told(
    database: Database,
) -> None:
    bench = Bench(database, [tool("bad", raising(RuntimeError(f"token={SECRET} of {PHONE}")))])
    with capture_logs() as logs:
        envelope = await bench.one("bad")
    (entry,) = [entry for entry in logs if entry["event"] == "tool raised"]
    assert entry["error_id"] in envelope["error_desc"]
    assert "RuntimeError" in entry["error"]
    assert "test_tool" in entry["error"] or "tool_calls.py" in entry["error"]
    for text in (str(logs), str(envelope), str(bench.events), str(await bench.rows())):
        assert SECRET not in text
        assert PHONE not in text


async def test_every_end_of_a_call_is_a_log_line_with_ids_and_masked_arguments(database: Database) -> None:
    bench = Bench(database, [tool("probe", returning(1))])
    with capture_logs() as logs:
        await bench.run(call("probe", "a", text=PHONE), call("probe", "b", nothing=PHONE))
    lines = {entry["call_id"]: entry for entry in logs}
    assert (lines["a"]["event"], lines["a"]["tool"]) == ("tool finished", "probe")
    assert (lines["b"]["event"], lines["b"]["error_kind"]) == ("tool refused", "invalid_arguments")
    assert lines["a"]["thread_id"] == bench.scope.thread_id
    assert PHONE not in str(logs)
