"""The file of MCP servers: what it may say, and one clear sentence where it is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memory.errors import ConfigurationError
from tools.mcp.config import ServerConfig, check_intents, read_servers


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(servers: Any, name: str = "mcp.json") -> Path:
    file = Path(name)
    file.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return file


def test_both_kinds_of_server_are_read_in_their_order_and_disabled_ones_left_out() -> None:
    servers = read_servers(
        written(
            {
                "time": {"type": "stdio", "command": "mcp-server-time", "args": ["--local-timezone", "UTC"]},
                "off": {"command": "never", "disabled": True},
                "crm": {"type": "http", "url": "https://crm.example/mcp", "timeout": 5},
            }
        )
    )
    assert list(servers) == ["time", "crm"]
    assert servers["time"].args == ("--local-timezone", "UTC")
    assert servers["crm"].timeout == 5


def test_toml_says_the_same() -> None:
    file = Path("mcp.toml")
    file.write_text(
        '[mcpServers.crm]\nurl = "https://crm.example/mcp"\n[mcpServers.crm.approval]\n"*" = "staff"\n'
    )
    assert read_servers(file)["crm"].approval == {"*": "staff"}


def test_placeholders_come_from_the_environment_before_the_env_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRM_TOKEN", "from-environment")
    Path(".env").write_text("CRM_TOKEN=from-file\nCRM_HOST=crm.example\n")
    headers = {"Authorization": "Bearer ${CRM_TOKEN}"}
    crm = read_servers(written({"crm": {"url": "https://${CRM_HOST}/mcp", "headers": headers}}))["crm"]
    assert crm.url == "https://crm.example/mcp"
    assert crm.headers == {"Authorization": "Bearer from-environment"}


def test_secrets_are_in_no_representation_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRM_TOKEN", "s3cret-token")
    secret = "${CRM_TOKEN}"
    process = {"command": "crm", "args": [secret], "env": {"TOKEN": secret}}
    reached = {"url": f"https://crm.example/{secret}", "headers": {"X": secret}}
    assert "s3cret-token" not in repr(read_servers(written({"a": process, "b": reached})))
    for wrong in ({**process, "url": secret}, {"url": secret}, {"command": "crm", "env": [secret]}):
        with pytest.raises(ConfigurationError) as raised:
            read_servers(written({"crm": wrong}))
        assert "s3cret-token" not in str(raised.value)


@pytest.mark.parametrize(
    ("server", "sentence"),
    [
        ({}, r"mcpServers\.crm: give either `command`"),
        ({"command": "crm", "url": "http://x"}, r"mcpServers\.crm: give either `command`"),
        ({"command": "crm", "headers": {"a": "b"}}, r"mcpServers\.crm: `headers` does not go with `command`"),
        ({"command": "crm", "type": "http"}, r"mcpServers\.crm: `type` http does not go with `command`"),
        ({"url": "http://x", "type": "sse"}, r"mcpServers\.crm\.type: .*'stdio', 'http'"),
        ({"url": "crm.example"}, r"mcpServers\.crm\.url: it does not begin with http://"),
        ({"url": "http://x", "aproval": {}}, r"mcpServers\.crm\.aproval: Extra inputs"),
        ({"url": "http://x", "approval": {"pay": "boss"}}, r"mcpServers\.crm\.approval\.pay: .*'customer'"),
        ({"url": "http://x", "effect": {"pay": "maybe"}}, r"mcpServers\.crm\.effect\.pay: .*'read'"),
        ({"url": "http://x", "timeout": 0}, r"mcpServers\.crm\.timeout: .*greater than 0"),
        ({"url": "http://x", "tools": "all"}, r"mcpServers\.crm\.tools: .*tuple"),
        ({"url": "http://${NO_SUCH}/mcp"}, r"mcpServers\.crm\.url: the variable 'NO_SUCH' is not set"),
        ({"command": "crm", "args": ["${NO_SUCH}"]}, r"mcpServers\.crm\.args\.0: the variable 'NO_SUCH'"),
        ("crm", r"mcpServers\.crm: "),
    ],
)
def test_a_wrong_file_names_the_field_in_one_sentence(server: Any, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence) as raised:
        read_servers(written({"crm": server}))
    assert "\n" not in str(raised.value)


def test_a_file_that_cannot_be_read_says_so() -> None:
    with pytest.raises(ConfigurationError, match=r"missing\.json cannot be read"):
        read_servers(Path("missing.json"))
    Path("broken.json").write_text("{")
    with pytest.raises(ConfigurationError, match=r"broken\.json is not valid JSON"):
        read_servers(Path("broken.json"))
    Path("other.json").write_text("[]")
    with pytest.raises(ConfigurationError, match="mcpServers is missing"):
        read_servers(Path("other.json"))


def test_an_exact_name_goes_before_a_pattern_and_patterns_in_their_order() -> None:
    rules = {"refund_*": "staff", "*": "customer", "refund_quote": "none"}
    server = ServerConfig.model_validate({"command": "crm", "approval": rules, "tools": ["refund_*", "find"]})
    assert [server.approval_of(name) for name in ("refund_quote", "refund_pay", "find")] == [
        "none",
        "staff",
        "customer",
    ]
    assert [server.takes(name) for name in ("refund_pay", "find", "delete")] == [True, True, False]


def test_rules_that_no_tool_answers_to_are_found() -> None:
    server = ServerConfig.model_validate(
        {"command": "crm", "approval": {"refnud": "staff", "pay_*": "staff"}, "tools": ["refund", "pay_*"]}
    )
    assert server.unmatched(["refund", "pay_now"]) == ["refnud"]


def test_intents_have_to_be_those_of_the_business() -> None:
    server = ServerConfig(command="crm", intents=("order", "orders"))
    with pytest.raises(ConfigurationError, match="there is no intent 'orders'"):
        check_intents(Path("mcp.json"), {"crm": server}, {"order", "chat"})


def test_what_has_to_be_grounded_is_said_by_name_or_pattern() -> None:
    rules = {"*": {"order_id": "identifier", "phone": "detail"}, "pay": {"amount": "detail"}}
    server = ServerConfig.model_validate(
        {"command": "crm", "grounded": rules, "identifiers": {"find_*": ["orders[].id"]}}
    )
    assert server.grounded_of("find", ["order_id"]) == {"order_id": "identifier"}
    assert server.grounded_of("pay", ["order_id"]) == {"amount": "detail"}
    assert server.identifiers_of("find_orders") == ("orders[].id",)
    assert server.details_of("find_orders") == ()
    assert server.unmatched(["find"]) == ["pay", "find_*"]
