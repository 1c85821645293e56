"""What the process was given as secret is masked by its letters, whatever it looks like; plain words are not (M10)."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph import Settings
from memory.known_secrets import secrets_of_environment, secrets_of_url, shown_address
from memory.masking import mask
from tools.mcp.config import read_servers


def test_every_secret_of_the_settings_and_of_the_environment_is_masked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {
        "DATABASE_URL": "postgresql://bob:Quiet%20river9@db/shop",
        "OPENAI_API_KEY": "plain-looking-api-key",
        "OPENAI_BASE_URL": "https://bob:Loud-river9@models.example/v1?api-version=2024-10-21x&sig=Query-river9",
        "STEWARD_JWT_KEY": "plain-looking-jwt-key",
        "STEWARD_ENCRYPTION_KEY": "plain looking encryption key",
        "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20Otlp-river9,x-scope=Scope-river9",
        "PGPASSWORD": "Pg-river9",
        "LANGSMITH_API_KEY": "Smith-river9",
        "HTTPS_PROXY": "http://bob:Proxy-river9@proxy:3128",
    }.items():
        monkeypatch.setenv(name, value)
    Settings.load()
    for secret in (
        "plain-looking-api-key",
        "plain-looking-jwt-key",
        "plain looking encryption key",
        "Quiet%20river9",
        "Quiet river9",
        *(f"{name}-river9" for name in ("Loud", "Query", "Otlp", "Scope", "Pg", "Smith", "Proxy")),
    ):
        assert mask(f"it said {secret}, twice {secret}.") == "it said [secret], twice [secret]."


def test_words_that_people_use_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://postgres:postgres@localhost/postgres")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    Settings.load()
    text = "none of the postgres servers answers"
    assert mask(text) == text


def test_secrets_of_mcp_servers_are_masked_also_those_of_dot_env(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("CRM_TOKEN=Dotenv-river9\n", encoding="utf-8")
    (tmp_path / "mcp.json").write_text(
        '{"mcpServers": {"a": {"command": "x", "args": ["${CRM_TOKEN}"], "env": {"A_SECRET": "Env-river9"}},'
        ' "b": {"url": "https://u:Url-river9@h/mcp",'
        ' "headers": {"Authorization": "Bearer Header-river9", "Accept": "application/json"}}}}',
        encoding="utf-8",
    )
    read_servers(tmp_path / "mcp.json")
    for secret in ("Dotenv", "Env", "Url", "Header"):
        assert mask(f"token {secret}-river9 refused") == "token [secret] refused"
    assert mask("send application/json") == "send application/json"


def test_only_what_is_secret_is_taken_from_addresses_and_variables() -> None:
    assert list(secrets_of_url("https://h/v1?user=bob&key=s3cret-key")) == ["", "s3cret-key"]
    assert (
        list(secrets_of_environment({"PATH": "/usr/bin", "KEYBOARD": "qwertz-12345", "MODE": "token"})) == []
    )


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://bob:secret@host:8443/v1?key=secret#secret", "https://host:8443/v1"),
        ("http://host/v1", "http://host/v1"),
        ("http://[", "that address"),
    ],
)
def test_an_address_is_shown_without_user_password_and_query(url: str, shown: str) -> None:
    assert shown_address(url) == shown
