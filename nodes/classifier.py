"""The local router: a linear classifier trained on the business's own examples of its intents (R8)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory.embeddings import Embedder, question_text
from nodes.business import Business
from nodes.classifier_store import ClassifierStore, key_of
from nodes.linear_model import LinearModel, Matrix, fit
from nodes.text_features import says_something, without_identifiers
from nodes.wishes import Ranking, clauses, decide_alone, several_wishes

SHARPNESS = 6.0
"""Turns scores into probabilities; calibrated on labelled data, see docs/benchmarks/routing.md."""
LONGEST = 300
"""Characters: a longer message tells a story, which one vector does not hold."""


@dataclass(frozen=True)
class LocalRoute:
    """What the classifier makes of a message."""

    intents: Ranking
    """Every intent with its probability, likeliest first."""
    decided: Ranking
    """The intents that it decides alone; empty where the router model has to be asked."""

    def probability(self, name: str) -> float:
        return dict(self.intents).get(name, 0.0)


class LocalRouter:
    """Trained once, by the first caller or ahead of it by `train`; what was trained is kept for the next process."""

    def __init__(self, business: Business, embedder: Embedder, store: ClassifierStore) -> None:
        self._business = business
        self._embedder = embedder
        self._store = store
        self._names = [intent.name for intent in business.intents]
        self._trained: asyncio.Task[LinearModel] | None = None

    async def classify(self, text: str) -> LocalRoute:
        """Probabilities of the intents for one customer message, and what may be decided on them."""
        plain = without_identifiers(text)
        if len(text) > LONGEST or not says_something(plain):
            (whole,) = await self._rank([plain], embedded=[question_text(text)])
            return LocalRoute(whole, [])
        parts = clauses(plain)
        whole, *rankings = await self._rank([plain, *(parts if len(parts) > 1 else [])])
        decided = decide_alone(
            whole, rankings or [whole], joined=several_wishes(plain), fallback=self._business.fallback
        )
        return LocalRoute(whole, decided)

    async def train(self) -> None:
        """Get ready: load the classifier that an earlier process has trained, or train it."""
        await self._model()

    async def _rank(self, texts: Sequence[str], *, embedded: Sequence[str] | None = None) -> list[Ranking]:
        """Of each text the intents; `embedded` are the same texts as somebody else has them embedded already."""
        model = await self._model()
        vectors = np.asarray(await self._embedder.embed(embedded or texts), dtype=np.float32)
        return [self._ranking(row) for row in _softmax(SHARPNESS * model.scores(texts, vectors))]

    def _ranking(self, probabilities: Matrix) -> Ranking:
        order = np.argsort(-probabilities, kind="stable")
        return [(self._names[i], round(float(probabilities[i]), 4)) for i in order]

    async def _model(self) -> LinearModel:
        if self._trained is None or (self._trained.done() and not _succeeded(self._trained)):
            self._trained = asyncio.ensure_future(self._load_or_train())
        return await asyncio.shield(self._trained)

    async def _load_or_train(self) -> LinearModel:
        examples = labelled_examples(self._business)
        key = await asyncio.to_thread(key_of, self._embedder.name, self._names, examples)
        stored = await asyncio.to_thread(self._store.load, key)
        if stored is not None:
            return stored
        texts, labels = [text for text, _ in examples], [label for _, label in examples]
        vectors = np.asarray(await self._embedder.embed(texts), dtype=np.float32)
        model = await asyncio.to_thread(fit, texts, vectors, labels, len(self._names))
        await asyncio.to_thread(self._store.save, key, model)
        return model


def labelled_examples(business: Business) -> list[tuple[str, int]]:
    """Every example as the classifier sees it, with the position of its intent."""
    return [
        (without_identifiers(text), label)
        for label, intent in enumerate(business.intents)
        for text in intent.examples
    ]


def can_be_trained(business: Business) -> bool:
    """Whether every intent brings examples: one without could never be found, and its messages would go astray."""
    return len(business.intents) > 1 and all(intent.examples for intent in business.intents)


def _succeeded(task: asyncio.Task[LinearModel]) -> bool:
    return not task.cancelled() and task.exception() is None


def _softmax(logits: Matrix) -> Matrix:
    exponents = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(exponents / exponents.sum(axis=1, keepdims=True), dtype=np.float32)
