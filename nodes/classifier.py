"""The local router: a linear classifier over sentence embeddings, trained on the business's own examples (R8)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memory.embeddings import Embedder
from nodes.business import Business

Matrix = npt.NDArray[np.float64]

SURE = 0.80
"""Probability above which the classifier decides alone; set on labelled data, see docs/benchmarks."""
NEAR = 0.45
"""Least cosine similarity to some example: what resembles nothing known is never decided alone."""
_STEPS = 400
_RATE = 2.0
_DECAY = 1e-4
_SHARPNESS = 6.0
"""Embeddings are unit vectors: logits need a scale to leave the flat part of the softmax."""


@dataclass(frozen=True)
class LocalRoute:
    """Every intent with its probability, likeliest first, and whether that is enough to decide alone."""

    intents: tuple[tuple[str, float], ...]
    sure: bool

    def probability(self, name: str) -> float:
        return dict(self.intents).get(name, 0.0)


class LocalRouter:
    """Trained at the first use, in a thread; about 0.2 s for a few hundred examples."""

    def __init__(self, business: Business, embedder: Embedder) -> None:
        self._business = business
        self._embedder = embedder
        self._names = [intent.name for intent in business.intents]
        self._trained: asyncio.Task[tuple[Matrix, Matrix]] | None = None

    async def classify(self, text: str) -> LocalRoute:
        """Probabilities of the intents for one customer message."""
        weights, examples = await self.train()
        vector = np.asarray((await self._embedder.embed([text]))[0], dtype=np.float64)
        probabilities = _softmax(_SHARPNESS * _with_bias(vector[None, :]) @ weights)[0]
        order = np.argsort(-probabilities)
        ranked = tuple((self._names[i], round(float(probabilities[i]), 4)) for i in order)
        near = float((examples @ vector).max())
        return LocalRoute(ranked, sure=ranked[0][1] >= SURE and near >= NEAR)

    async def train(self) -> tuple[Matrix, Matrix]:
        """Weights and the embedded examples; trained once, the first caller starts it."""
        if self._trained is None:
            self._trained = asyncio.ensure_future(self._train())
        return await asyncio.shield(self._trained)

    async def _train(self) -> tuple[Matrix, Matrix]:
        labelled = [(text, i) for i, intent in enumerate(self._business.intents) for text in intent.examples]
        vectors = await self._embedder.embed([text for text, _ in labelled])
        examples = np.asarray(vectors, dtype=np.float64)
        weights = await asyncio.to_thread(_fit, examples, [i for _, i in labelled], len(self._names))
        return weights, examples


def _fit(examples: Matrix, labels: Sequence[int], classes: int) -> Matrix:
    """Multinomial logistic regression by gradient descent; classes weigh the same whatever their size."""
    inputs = _with_bias(examples)
    targets = np.eye(classes)[list(labels)]
    balance = (targets / np.maximum(targets.sum(axis=0), 1)).sum(axis=1, keepdims=True) / classes
    weights = np.zeros((inputs.shape[1], classes))
    for _ in range(_STEPS):
        error = (_softmax(_SHARPNESS * inputs @ weights) - targets) * balance
        weights -= _RATE * (_SHARPNESS * inputs.T @ error + _DECAY * weights)
    return weights


def _with_bias(vectors: Matrix) -> Matrix:
    return np.hstack([vectors, np.full((len(vectors), 1), 0.5)])


def _softmax(logits: Matrix) -> Matrix:
    exponents = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(exponents / exponents.sum(axis=1, keepdims=True))
