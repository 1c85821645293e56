"""Labelled utterances, and what the classifier makes of each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph.shop.business import SHOP
from memory.embeddings import LocalEmbedder
from nodes.classifier import LocalRoute, LocalRouter
from nodes.text_features import without_identifiers
from nodes.wishes import clauses

SETS = Path(__file__).parents[1] / "routing_set"
NAMES = [intent.name for intent in SHOP.intents]
BATCH = 256


@dataclass(frozen=True)
class Utterance:
    text: str
    label: str
    acceptable: frozenset[str]
    wishes: frozenset[str]
    source: str
    kind: str


@dataclass(frozen=True)
class Routed:
    utterance: Utterance
    local: LocalRoute

    @property
    def top(self) -> str:
        return self.local.intents[0][0]

    @property
    def strict(self) -> bool:
        return self.top == self.utterance.label

    @property
    def lenient(self) -> bool:
        return self.top in self.utterance.acceptable

    @property
    def right_alone(self) -> bool:
        decided = {name for name, _ in self.local.decided}
        several = len(self.utterance.wishes) > 1
        return decided <= self.utterance.acceptable and (not several or self.utterance.wishes <= decided)


def english(data: Path) -> list[Utterance]:
    found = []
    for row in _rows(data / "intent_routing" / "en_dev.jsonl"):
        label = _in_shop(row["label"])
        acceptable = frozenset(map(_in_shop, row["acceptable"]))
        found.append(
            Utterance(row["text"], label, acceptable, frozenset([label]), row["source"], row["src_intent"])
        )
    return found


def chinese(name: str) -> list[Utterance]:
    return [
        Utterance(
            row["text"],
            row["wishes"][0],
            frozenset(row["acceptable"]),
            frozenset(row["wishes"]),
            name,
            "several wishes" if len(row["wishes"]) > 1 else row["wishes"][0],
        )
        for row in _rows(SETS / f"{name}.jsonl")
    ]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _in_shop(label: str) -> str:
    return "chat" if label == "out_of_scope" else label


async def route_all(
    router: LocalRouter, embedder: LocalEmbedder, utterances: Sequence[Utterance]
) -> list[Routed]:
    """Embedded in batches first: a text by itself takes several times as long."""
    routed = []
    for start in range(0, len(utterances), BATCH):
        batch = utterances[start : start + BATCH]
        plain = [without_identifiers(utterance.text) for utterance in batch]
        await embedder.embed([*plain, *(clause for text in plain for clause in clauses(text))])
        routed += [Routed(utterance, await router.classify(utterance.text)) for utterance in batch]
    return routed
