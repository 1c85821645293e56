"""Secrets planted in every setting and in what customers write stand in nothing that comes out or is kept (M10)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import jwt
import psycopg
import pytest
from psycopg import sql

from tests.acceptance.test_server_intrusion import DOORS, FORGED
from tests.support.collector import Collector
from tests.support.mcp_server import McpServer
from tests.support.model_replies import (
    Call,
    Reply,
    Request,
    extractor_reply,
    failure,
    router_reply,
    tool_call,
)
from tests.support.model_server import ModelServer, role_of
from tests.support.processes import Server, Steward

TYPED = "sk-live-CANARYtyped0123456789abcdef"
MOBILE = "13912345678"
NAMES = (
    "api",
    "jwt",
    "encryption",
    "dsn",
    "base",
    "otlp",
    "mcp-header",
    "mcp-env",
    "mcp-url",
    "dotenv",
    "crm",
)
CANARIES = {name: f"CANARY {name} k3y of at least 32 bytes!".replace(" ", "-") for name in NAMES}
"""What looks like no key that anybody knows."""
ALL = (*CANARIES.values(), TYPED)
LEAKY = '''
import os
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from graph.shop.business import SHOP
from tools.declare import tool
from tools.errors import BusinessError


def leak() -> str:
    names = ("OPENAI_API_KEY", "DATABASE_URL", "CRM_PASSWORD", "OTEL_EXPORTER_OTLP_HEADERS", "STEWARD_JWT_KEY")
    return "refused: " + ", ".join(os.environ.get(name, "") for name in names) + " token=abcd1234efgh"


@tool
async def crash(n: Annotated[int, Field(description="Anything.")]) -> str:
    """Break down."""
    raise RuntimeError(leak())


@tool
async def complain(n: Annotated[int, Field(description="Anything.")]) -> str:
    """Refuse, in words for the model."""
    raise BusinessError(leak())


TOOLS = [crash, complain]
LEAKY = replace(SHOP, tools=lambda settings: [*SHOP.tools(settings), *TOOLS],
                intents=[replace(intent, tools=(*intent.tools, "crash", "complain")) for intent in SHOP.intents])
'''
COLUMNS = """
SELECT table_schema, table_name FROM information_schema.tables
WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'
"""


def script(request: Request) -> Reply:
    role = role_of(request)
    words = f"my key is {TYPED}"
    if role == "router":
        return router_reply(request, ("order", 0.95))
    if role == "extractor":
        memory = {"key": "note", "content": words, "type": "fact", "confidence": 0.95, "importance": 0.5}
        return extractor_reply(request, {**memory, "domains": ["general"], "evidence": words})
    asked = next(m["content"] for m in reversed(request["messages"]) if m["role"] == "user")
    if "refuse me" in str(asked):
        return failure(401, f"Incorrect API key provided: {CANARIES['api']} of {CANARIES['base']}")
    if request["messages"][-1]["role"] == "tool":
        return Reply("On its way.")
    if "break" in str(asked):
        return Reply(calls=[Call("crash", {"n": 1}), Call("complain", {"n": 1})])
    return tool_call("order_query", {"order_id": "ABC-20240520-001"})


def settings(folder: Path, database_url: str, model: ModelServer, collector: Collector, mcp: str) -> Any:
    """Every setting that can hold a secret holds one."""
    (folder / "leaky.py").write_text(LEAKY, encoding="utf-8")
    (folder / ".env").write_text(f"CRM_TOKEN={CANARIES['dotenv']}\n", encoding="utf-8")
    servers = {
        "there": {"url": mcp, "headers": {"Authorization": f"Bearer {CANARIES['mcp-header']}"}},
        "gone": {"url": f"http://u:{CANARIES['mcp-url']}@127.0.0.1:9/mcp"},
        "nowhere": {"command": "nonesuch", "args": ["${CRM_TOKEN}"], "env": {"A_KEY": CANARIES["mcp-env"]}},
    }
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return {
        **model.settings(),
        "database_url": database_url.replace("postgres@", f"postgres:{CANARIES['dsn']}@"),
        "openai_api_key": CANARIES["api"],
        "openai_base_url": model.url.replace("http://", f"http://bob:{CANARIES['base']}@"),
        "steward_business": "leaky:LEAKY",
        "steward_auth": "jwt",
        "steward_jwt_key": CANARIES["jwt"],
        "steward_encryption_key": CANARIES["encryption"],
        "steward_mcp": "mcp.json",
        "otel_exporter_otlp_endpoint": collector.url,
        "otel_exporter_otlp_headers": f"x-key={CANARIES['otlp']}",
        "crm_password": CANARIES["crm"],
        "steward_log_level": "debug",
        "steward_log_format": "json",
    }


@pytest.mark.parametrize("door", ["command line", "server"])
def test_canaries_stand_in_no_output_no_telemetry_and_no_column(
    door: str, tmp_path: Path, database_url: str
) -> None:
    with ModelServer(script) as model, Collector() as collector, McpServer() as mcp:
        steward = Steward(tmp_path, **settings(tmp_path, database_url, model, collector, mcp.url))
        outputs = (use_commands if door == "command line" else use_server)(steward, database_url)
        sent = b"".join(collector.bodies)
        asked = json.dumps(model.requests, ensure_ascii=False)
    assert any(span.name.startswith("chat ") for span in collector.spans)
    assert {resource.get("service.name") for resource in collector.resources} == {"steward"}
    assert '"complain"' in asked
    for canary in ALL:
        assert canary.encode() not in sent
        assert [name for name, text in outputs.items() if canary in text] == []
    for canary in (*CANARIES.values(), "abcd1234efgh"):
        assert canary not in asked
    assert MOBILE.encode() not in sent
    assert MOBILE not in outputs["chat"]
    assert [
        name for name, text in outputs.items() if "Traceback" in text and not name.startswith("log")
    ] == []
    assert _columns_with(database_url, (*ALL, MOBILE)) == []


WORDS = (
    f"Where is order ABC-20240520-001? my key is {TYPED} and my mobile {MOBILE}",
    "break down over order ABC-20240520-001",
    "refuse me",
)


def use_commands(steward: Steward, database_url: str) -> dict[str, str]:
    outputs = {}
    for number, words in enumerate(WORDS):
        said = steward.run("chat", words, "--user", "user_123", "--json", timeout=240)
        assert said.returncode == 0, said.stderr
        outputs["chat" if number == 0 else f"chat {number}"] = said.stdout
        outputs[f"log {number}"] = said.stderr
    for command in (
        ["doctor"],
        ["costs", "--json"],
        ["memory", "export", "--user", "user_123"],
        ["worker", "--once"],
    ):
        done = steward.run(*command, timeout=240)
        outputs[" ".join(command)] = done.stdout + done.stderr
    for name, value in {
        "database_url": "postgresql://bob:{}@127.0.0.1:9/x",
        "openai_base_url": "htp://b:{}@h",
    }.items():
        steward.settings[name.upper()] = value.format(CANARIES["dsn"])
        done = steward.run("doctor", timeout=240)
        outputs[f"log of a doctor with bad {name}"] = done.stdout + done.stderr
        assert done.returncode == 3
    return outputs


def use_server(steward: Steward, database_url: str) -> dict[str, str]:
    mine, staff = (bearer("user_123"), bearer("boss", role="staff"))
    outputs: dict[str, str] = {}
    # The platform closes a connection behind an error of its own without saying so.
    alone = {"connection": "close"}
    with Server(steward) as server, httpx.Client(base_url=server.url, timeout=60, headers=alone) as http:

        def ask(method: str, path: str, body: Any = None, headers: Any = staff) -> httpx.Response:
            answer = http.request(method, path, json=body, headers=headers)
            # What the customer has typed stands in their conversation.
            text = answer.text.replace(WORDS[0], "")
            outputs[f"{len(outputs)} {method} {path}"] = f"{text}\n{answer.headers}"
            return answer

        thread = ask("POST", "/threads", {}, mine).json()["thread_id"]
        for words in WORDS:
            said = {"assistant_id": "steward", "input": {"messages": [{"role": "user", "content": words}]}}
            state = ask("POST", f"/threads/{thread}/runs/wait", said, mine).json()
            outputs["chat" if words is WORDS[0] else words] = outputs.popitem()[1]
        use_doors(ask, thread, state["turn"]["id"])
        with psycopg.connect(database_url) as connection:
            connection.execute("ALTER TABLE token_usage RENAME TO hidden_away")
        assert ask("GET", "/costs").status_code >= 500
        with psycopg.connect(database_url) as connection:
            connection.execute("ALTER TABLE hidden_away RENAME TO token_usage")
    outputs["log"] = server.log
    return outputs


def use_doors(ask: Any, thread: str, turn: str) -> None:
    """Every door, with every kind of caller; what Studio and the operator's page read."""
    staff = bearer("boss", role="staff")
    for headers in (FORGED["no signature"], bearer("user_456"), staff):
        for method, path, body in DOORS:
            if method != "DELETE" or headers != staff:
                ask(method, path, body, headers)
    assistant = ask("POST", "/assistants/search", {}).json()[0]
    for path in (
        *(f"/assistants/{assistant['assistant_id']}/{what}" for what in ("schemas", "graph", "subgraphs")),
        *(f"/threads/{thread}{what}" for what in ("", "/state", "/history", "/runs", "/nothing")),
        *("/info", "/ok", "/openapi.json", "/health", "/ready", "/console", "/nowhere"),
        *(f"/console/api/{what}" for what in ("about", "graph", "conversations", "users", "feedback")),
        f"/console/api/conversations/{thread}",
        f"/console/api/conversations/{thread}/turns/{turn}",
    ):
        text = ask("GET", path)
        assert text.status_code in (200, 404), (path, text.text)
    ask("PUT", "/users/user_123/memories/k", {"content": 5})
    ask("POST", f"/turns/{turn}/feedback", {"rating": "so so"})
    ask("POST", f"/threads/{thread}/runs/wait", {"assistant_id": "steward", "input": {"messages": 5}})
    ask("POST", f"/threads/{thread}/runs/wait", {"assistant_id": "steward", "command": {"resume": "yes"}})


def bearer(user: str, **claims: Any) -> dict[str, str]:
    return {"authorization": f"Bearer {jwt.encode({'sub': user, **claims}, CANARIES['jwt'])}"}


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
