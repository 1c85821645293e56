"""Prices for a million tokens, found by the beginning of a model's name."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import cast

import pytest

from graph.cli.costs import _money
from graph.doctor import check_prices
from graph.settings import Settings
from memory.errors import ConfigurationError
from nodes.model_answer import CallUsage
from nodes.prices import SHIPPED, Prices
from nodes.usage_report import CostRow

FILE = """{
  "gpt-5": {"input": 1, "cached_input": 0.1, "output": 10},
  "gpt-5-mini": {"input": 0.25, "output": 2}
}"""
USAGE = CallUsage(prompt_tokens=1000, completion_tokens=100, cached_tokens=500)


@pytest.fixture
def prices(tmp_path: Path) -> Prices:
    file = tmp_path / "prices.json"
    file.write_text(FILE)
    return Prices(file)


@pytest.mark.parametrize("model", ["gpt-5", "gpt-5-2025-08-07", "openai/gpt-5", "gpt-5:latest"])
def test_cached_tokens_have_their_own_price(prices: Prices, model: str) -> None:
    assert prices.cost(model, USAGE) == Decimal("0.00155")


@pytest.mark.parametrize("model", ["gpt-5-mini", "gpt-5-mini-2025-08-07"])
def test_the_longest_name_counts_and_cached_tokens_cost_as_others_by_default(
    prices: Prices, model: str
) -> None:
    assert prices.cost(model, USAGE) == Decimal("0.00045")


@pytest.mark.parametrize("model", ["gpt-5.5", "gpt-50", "qwen", ""])
def test_an_unknown_model_has_no_price(prices: Prices, model: str) -> None:
    assert prices.cost(model, USAGE) is None


def test_the_shipped_list_knows_the_default_model_and_the_demo() -> None:
    assert Prices().cost("gpt-5-mini", USAGE)
    assert Prices().cost("offline-demo", USAGE) == 0


@pytest.mark.parametrize("text", ["{", '{"m": {"input": -1, "output": 1}}', '{"m": {"output": 1}}', "[]"])
def test_a_bad_file_is_named_with_its_fault(tmp_path: Path, text: str) -> None:
    file = tmp_path / "prices.json"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=r"STEWARD_PRICES: .*prices\.json"):
        Prices(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        Prices(tmp_path / "none.json")


def test_the_shipped_list_says_that_it_is_unverified_and_of_which_day() -> None:
    note = json.loads(SHIPPED.read_text("utf-8"))["_note"]
    assert note.startswith("Unverified")
    assert re.search(r"\d{4}-\d{2}-\d{2}", note)
    assert Prices().knows("gpt-5-mini")
    assert not Prices().knows("_note")


def test_calls_without_a_price_are_shown_as_such_and_not_as_free() -> None:
    row = {"calls": 3, "cost": 0.0, "unpriced_calls": 3}
    assert _money(cast(CostRow, row)) == "unpriced"
    assert _money(cast(CostRow, {**row, "cost": 0.5, "unpriced_calls": 1})) == "0.5000 + 1 unpriced"
    assert _money(cast(CostRow, {**row, "unpriced_calls": 0})) == "0.0000"


def test_the_doctor_names_models_without_a_price() -> None:
    settings = Settings(_env_file=None, openai_api_key="k", steward_chat_model="llama-of-ours")  # type: ignore[call-arg, arg-type]
    found = check_prices(settings)
    assert found.ok
    assert "llama-of-ours" in found.detail
    assert found.cure
