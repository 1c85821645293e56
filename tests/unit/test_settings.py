"""Whatever stands in the environment: settings that work, or one sentence that names the variable."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch
from zoneinfo import ZoneInfo

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.settings import Settings
from memory.ageing import HalfLives
from memory.database_url import DatabaseUrl
from memory.encryption import Cipher
from memory.errors import ConfigurationError
from nodes.prices import Prices
from nodes.settings import ROLES

VARIABLES = sorted(name.upper() for name in Settings.model_fields)
ODD = [
    "", " ", "on", "off", "yes", "0", "-1", "1", "1.5", "1e308", "1e999", "inf", "nan", "1_000", "９",
    "99999999999999999999",     "None", "null", "[]", "{}", "local", "openai:", "openai:x",
    "Asia/Shanghai", "Mars/Base", "../etc", "/dev/null/x",
    "http://", "http://[", "http://h:x/", "https://h/v1", "ftp://h", "postgresql://u:p@h/d", "postgresql://[",
    "sqlite:///x",     "jwt", "debug", "DEBUG", "json", "\udcff", "\x1b[31m", "a" * 5000, "中文", "😀", "$HOME", "%s",
    "'", "\\", "-----BEGIN",
]  # fmt: skip
EC_KEY = (
    generate_private_key(SECP256R1())
    .public_key()
    .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    .decode()
)
VALUES = st.one_of(st.sampled_from(ODD), st.text(st.characters(exclude_characters="\0"), max_size=30))
FILES = {"STEWARD_PRICES", "STEWARD_MCP", "STEWARD_HOME"}


@settings(max_examples=400, deadline=None)
@given(st.dictionaries(st.sampled_from(VARIABLES), VALUES, min_size=1, max_size=3))
def test_any_value_works_or_is_told_in_one_sentence_that_names_the_variable(given: dict[str, str]) -> None:
    environment = {name: _as_environment(value) for name, value in given.items()}
    with patch.dict(os.environ, environment, clear=True):
        try:
            _use(Settings.load())
        except ConfigurationError as error:
            text = str(error)
            assert any(name in text for name in given), text
            assert len(text.splitlines()) == 1
            assert "Traceback" not in text
            for name in ("OPENAI_API_KEY", "STEWARD_JWT_KEY", "STEWARD_ENCRYPTION_KEY"):
                assert len(given.get(name, "")) < 8 or given[name] not in text


def _as_environment(value: str) -> str:
    """As the operating system hands it over: bytes that are no UTF-8 come as halves of characters."""
    return value.encode("utf-8", "surrogateescape" if "\udcff" in value else "ignore").decode(
        "utf-8", "surrogateescape"
    )


def _use(found: Settings) -> None:
    """What is first made of the settings, without opening anything."""
    now = datetime.now(UTC)
    now.astimezone(ZoneInfo(found.steward_timezone))
    HalfLives.of(found)
    for name in Settings.model_fields:
        if name.endswith("_days"):
            now - timedelta(days=getattr(found, name))
        elif name.endswith(("_seconds", "_timeout")):
            now + timedelta(seconds=getattr(found, name))
    for role in ROLES:
        assert found.model_name(role).encode()
        assert 0 <= found.temperature(role) <= 2
    if found.database_url is not None:
        DatabaseUrl.parse(found.database_url.get_secret_value())
    if found.steward_encryption_key is not None:
        Cipher(found.steward_encryption_key.get_secret_value())
    if found.steward_prices is not None:
        Prices(found.steward_prices)


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("STEWARD_TIMEZONE", "Mars/Base", "no time zone"),
        ("STEWARD_IDLE_SECONDS", "inf", "less than or equal"),
        ("STEWARD_TURN_SECONDS", "nan", "STEWARD_TURN_SECONDS"),
        ("STEWARD_RETENTION_LEDGER_DAYS", "99999999", "less than or equal"),
        ("STEWARD_ENCRYPTION_KEY", "short", "shorter than 16"),
        ("OPENAI_BASE_URL", "api.example.com/v1", "no address"),
        ("STEWARD_CHAT_MODEL", "\udcff", "no text"),
        ("STEWARD_AUTH", "jwt", "needs STEWARD_JWT_KEY"),
        ("STEWARD_JWT_KEY", "-----BEGIN PUBLIC KEY-----", "no RSA public key"),
        ("STEWARD_JWT_KEY", EC_KEY, "no RSA public key"),
    ],
)
def test_what_would_fail_much_later_is_told_at_the_start(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, told: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError, match=told) as caught:
        Settings.load()
    assert variable in str(caught.value)


def test_a_dot_env_that_is_no_text_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"STEWARD_CHAT_MODEL=\xff\xfe\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match=r"\.env cannot be read"):
        Settings.load()
