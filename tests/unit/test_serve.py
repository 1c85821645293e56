"""`steward serve` starts the dev server quietly and on this machine, unless it is told otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graph.server.config import CONFIG
from graph.server.serve import address, missing_defaults
from memory.errors import ConfigurationError


def test_the_checkout_and_the_installed_package_serve_the_same() -> None:
    written = Path(__file__).resolve().parents[2] / "langgraph.json"
    assert json.loads(written.read_text(encoding="utf-8")) == CONFIG


def test_defaults_stand_until_the_caller_says_otherwise() -> None:
    assert missing_defaults([]) == [
        "--host",
        "127.0.0.1",
        "--n-jobs-per-worker",
        "10",
        "--no-browser",
        "--no-reload",
    ]
    assert missing_defaults(["--host=0.0.0.0", "--n-jobs-per-worker", "2"]) == ["--no-browser", "--no-reload"]


def test_host_and_port_are_read_in_both_spellings() -> None:
    assert address([]) == ("127.0.0.1", 2024)
    assert address(["--port", "8123", "--host=0.0.0.0"]) == ("0.0.0.0", 8123)
    with pytest.raises(ConfigurationError, match="--port"):
        address(["--port", "many"])
