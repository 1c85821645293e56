"""Secrets planted in every setting and in what customers write stand in nothing that comes out or is kept (M10)."""

from __future__ import annotations

from pathlib import Path

import psycopg
from psycopg import sql

from tests.support.collector import Collector
from tests.support.model_replies import Reply, Request, extractor_reply, router_reply, tool_call
from tests.support.model_server import ModelServer, role_of
from tests.support.processes import Steward

API_KEY = "sk-proj-CANARYapikey0123456789abcdef"
JWT_KEY = "CANARYjwtkey-of-at-least-32-bytes-00"
ENCRYPTION = "CANARYencryption-key-0123456789"
TYPED = "sk-live-CANARYtyped0123456789abcdef"
MOBILE = "13912345678"
SETTINGS = (API_KEY, JWT_KEY, ENCRYPTION)
COLUMNS = """
SELECT table_schema, table_name FROM information_schema.tables
WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'
"""


def script(request: Request) -> Reply:
    role = role_of(request)
    if role == "router":
        return router_reply(request, ("order", 0.95))
    if role == "extractor":
        words = f"my key is {TYPED}"
        memory = {"key": "note", "content": words, "type": "fact", "confidence": 0.95, "importance": 0.5}
        return extractor_reply(request, {**memory, "domains": ["general"], "evidence": words})
    if request["messages"][-1]["role"] == "tool":
        return Reply("On its way.")
    return tool_call("order_query", {"order_id": "ABC-20240520-001"})


def test_canaries_stand_in_no_output_no_telemetry_and_no_column(tmp_path: Path, database_url: str) -> None:
    with ModelServer(script) as model, Collector() as collector:
        steward = Steward(
            tmp_path,
            database_url=database_url,
            otel_exporter_otlp_endpoint=collector.url,
            steward_log_level="debug",
            steward_log_format="json",
            **{
                **model.settings(),
                "openai_api_key": API_KEY,
                "steward_jwt_key": JWT_KEY,
                "steward_encryption_key": ENCRYPTION,
            },
        )
        words = f"Where is order ABC-20240520-001? my key is {TYPED} and my mobile {MOBILE}"
        said = steward.run("chat", words, "--user", "user_123", "--json", timeout=240)
        assert said.returncode == 0, said.stderr
        doctor = steward.run("doctor", timeout=240)
    outputs = {"chat": said.stdout + said.stderr, "doctor": doctor.stdout + doctor.stderr}
    sent = b"".join(collector.bodies)
    assert any(span.name.startswith("chat ") for span in collector.spans)
    assert {resource.get("service.name") for resource in collector.resources} == {"steward"}
    for canary in (*SETTINGS, TYPED):
        assert canary.encode() not in sent
        assert [name for name, text in outputs.items() if canary in text] == []
    assert MOBILE.encode() not in sent
    assert MOBILE not in outputs["chat"]
    assert _columns_with(database_url, (*SETTINGS, TYPED, MOBILE)) == []


def _columns_with(database_url: str, canaries: tuple[str, ...]) -> list[str]:
    """Tables of which some row holds a canary, as text or inside bytes (which a key has made unreadable)."""
    found = []
    with psycopg.connect(database_url) as connection:
        for schema, table in connection.execute(COLUMNS).fetchall():
            name = sql.Identifier(schema, table)
            query = sql.SQL("SELECT convert_to(row::text, 'UTF8') FROM {} AS row").format(name)
            rows = [bytes(row) for (row,) in connection.execute(query)]
            found += [f"{schema}.{table}: {canary}" for canary in canaries if _holds(rows, canary.encode())]
    return found


def _holds(rows: list[bytes], canary: bytes) -> bool:
    return any(canary in row or canary.hex().encode() in row for row in rows)
