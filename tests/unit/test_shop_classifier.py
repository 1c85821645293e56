"""The classifier that is shipped with the shop."""

from __future__ import annotations

from collections import Counter

from graph.shop.business import SHOP
from memory.embeddings import LocalEmbedder
from nodes.classifier import can_be_trained, labelled_examples
from nodes.classifier_store import key_of


def test_the_shipped_classifier_was_trained_on_the_examples_as_they_are() -> None:
    key = key_of(LocalEmbedder.name, [intent.name for intent in SHOP.intents], labelled_examples(SHOP))
    assert SHOP.classifiers is not None
    found = [file.stem for file in SHOP.classifiers.glob("*.npz")]
    assert found == [key], "examples or training have changed: python -m graph.shop.train"


def test_every_intent_has_examples_in_both_languages_and_none_stands_in_two() -> None:
    assert can_be_trained(SHOP)
    seen = Counter(text for intent in SHOP.intents for text in intent.examples)
    assert [text for text, count in seen.items() if count > 1] == []
    for intent in SHOP.intents:
        assert sum(text.isascii() for text in intent.examples) >= 50
        assert sum(not text.isascii() for text in intent.examples) >= 50
