"""What the shop declares, as the engine needs it."""

from __future__ import annotations

from collections import Counter

import pytest

from graph.shop.business import SHOP
from graph.shop.texts import FOLDER, lines
from nodes.business import Intent
from nodes.settings import NodeSettings
from tools.registry import ToolRegistry

TOOLS = {spec.name: spec for spec in SHOP.tools_for(NodeSettings())}
CONTRACT = {
    "order_query",
    "order_update",
    "logistics_query",
    "aftersale_create",
    "aftersale_query",
    "product_search",
    "stock_query",
    "knowledge_search",
    "handoff_to_human",
}


def test_the_registry_takes_all_tools_of_the_contract() -> None:
    registry = ToolRegistry(SHOP.tools_for(NodeSettings()))
    assert set(registry.engine_names) == {"handoff_to_human"}
    assert {*registry.business_names, *registry.engine_names} == CONTRACT


def test_the_arguments_are_those_of_the_contract() -> None:
    query = TOOLS["order_query"].parameters["properties"]
    assert query["include_logistics"]["default"] is True
    assert list(query) == ["order_id", "include_logistics"]
    assert TOOLS["logistics_query"].parameters["required"] == ["tracking_no"]
    assert TOOLS["aftersale_create"].parameters["required"] == ["order_id", "issue_desc", "contact"]
    assert TOOLS["product_search"].parameters["required"] == ["query"]
    assert TOOLS["order_update"].parameters["properties"]["action"]["enum"] == ["cancel", "change_address"]


def test_numbers_contacts_and_addresses_must_stem_from_somewhere() -> None:
    assert TOOLS["order_query"].grounded == {"order_id": "identifier"}
    assert TOOLS["logistics_query"].grounded == {"tracking_no": "identifier"}
    assert TOOLS["order_update"].grounded == {"order_id": "identifier", "address": "detail"}
    assert TOOLS["aftersale_create"].grounded == {"order_id": "identifier", "contact": "detail"}


def test_only_what_cannot_change_under_the_customers_eyes_is_cached() -> None:
    assert {name for name, spec in TOOLS.items() if spec.cache_seconds} == {
        "product_search",
        "knowledge_search",
    }


def test_every_tool_says_what_it_is_doing_in_both_languages() -> None:
    assert all(set(spec.progress) == {"zh", "en"} for spec in TOOLS.values())


@pytest.mark.parametrize("intent", SHOP.intents, ids=lambda intent: intent.name)
def test_an_intent_offers_at_most_six_known_tools(intent: Intent) -> None:
    assert 0 < len(intent.tools) <= 6
    assert set(intent.tools) <= CONTRACT


@pytest.mark.parametrize("intent", SHOP.intents, ids=lambda intent: intent.name)
def test_an_intent_has_examples_in_both_languages(intent: Intent) -> None:
    chinese = [text for text in intent.examples if any("\u4e00" <= char <= "\u9fff" for char in text)]
    assert len(chinese) >= 40
    assert len(intent.examples) - len(chinese) >= 40


def test_no_example_stands_for_two_intents() -> None:
    counts = Counter(text.lower() for intent in SHOP.intents for text in intent.examples)
    assert [text for text, count in counts.items() if count > 1] == []


def test_aftersale_leads_and_is_the_only_intent_that_is_reviewed() -> None:
    assert max(SHOP.intents, key=lambda intent: intent.priority).name == "aftersale"
    assert [intent.name for intent in SHOP.intents if intent.review] == ["aftersale"]
    assert len(SHOP.intent("aftersale").checklist) == len(lines("intents/aftersale/checklist.txt")) > 0


def test_each_document_exists_in_both_languages_under_a_heading() -> None:
    names = {path.name.split(".")[0] for path in (FOLDER / "documents").glob("*.md")}
    assert 6 <= len(names) <= 10
    for name in names:
        for language in ("zh", "en"):
            document = (FOLDER / "documents" / f"{name}.{language}.md").read_text(encoding="utf-8")
            assert document.startswith("# ")
