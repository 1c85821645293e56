"""A linear classifier over embeddings and word pieces: weighted ridge regression, solved by conjugate gradients.

The matrix of word pieces is kept sparse, so that nothing of the size of vocabulary squared or examples squared is
ever made; a dozen steps are enough, since the penalty keeps the problem well conditioned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from nodes.text_features import grams

Matrix = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]

PIECES = np.float32(0.6)
"""Share of the word pieces in the similarity of two texts; the rest is the embedding's."""
PENALTY = np.float32(0.4)
STEPS = 15


@dataclass(frozen=True)
class LinearModel:
    """Scores of classes for a text: near 1 for the class of similar examples, near the mean where nothing is known."""

    vocabulary: dict[str, int]
    rarity: Matrix
    """Weight of each word piece: how rare it is among the examples."""
    piece_weights: Matrix
    """One row a word piece, one column a class."""
    vector_weights: Matrix
    """One row a dimension of the embedding."""
    mean: Matrix
    """Score of each class where nothing is known."""

    def scores(self, texts: Sequence[str], vectors: Matrix) -> Matrix:
        """One row a text, one column a class."""
        scores = np.sqrt(1 - PIECES) * vectors.astype(np.float32) @ self.vector_weights + self.mean
        for row, text in enumerate(texts):
            known = [self.vocabulary[gram] for gram in grams(text) if gram in self.vocabulary]
            if known:
                weights = self.rarity[known]
                weights *= np.sqrt(PIECES) / np.linalg.norm(weights)
                scores[row] += weights @ self.piece_weights[known]
        return np.asarray(scores, dtype=np.float32)


@dataclass(frozen=True)
class _Pieces:
    """The sparse matrix of word pieces, in both orders: by example and by piece."""

    count: int
    """Examples."""
    pieces: Indices
    weights: Matrix
    example_starts: Indices
    filled: npt.NDArray[np.bool_]
    """Examples that have any piece."""
    examples: Indices
    weights_by_piece: Matrix
    piece_starts: Indices

    def times(self, weights: Matrix) -> Matrix:
        product = np.zeros((self.count, weights.shape[1]), dtype=np.float32)
        product[self.filled] = np.add.reduceat(weights[self.pieces] * self.weights, self.example_starts)
        return product

    def transposed_times(self, residuals: Matrix) -> Matrix:
        summed = np.add.reduceat(residuals[self.examples] * self.weights_by_piece, self.piece_starts)
        return np.asarray(summed, dtype=np.float32)


def fit(texts: Sequence[str], vectors: Matrix, labels: Sequence[int], classes: int) -> LinearModel:
    """The model of labelled examples; classes weigh the same whatever their size. At least one text has a word.

    Runs on one thread: the products are too small to gain from more, and threads that wait for each other on a
    busy machine cost a hundred times the work.
    """
    vocabulary, rarity, pieces = _pieces_of(texts)
    targets = np.eye(classes, dtype=np.float32)[list(labels)]
    shares = np.maximum(targets.sum(axis=0), 1)[list(labels)][:, None]
    balance: Matrix = np.asarray((1 / shares) / (1 / shares).mean(), dtype=np.float32)
    mean = np.asarray((balance * targets).sum(axis=0) / balance.sum(), dtype=np.float32)
    with threadpool_limits(limits=1, user_api="blas"):
        scaled = np.sqrt(1 - PIECES) * np.asarray(vectors, dtype=np.float32)
        solution = _solve(scaled, pieces, balance, targets - mean)
    dimensions = scaled.shape[1]
    return LinearModel(vocabulary, rarity, solution[dimensions:], solution[:dimensions], mean)


def _solve(vectors: Matrix, pieces: _Pieces, balance: Matrix, targets: Matrix) -> Matrix:
    """Conjugate gradients on the normal equations, every class at once."""
    dimensions = vectors.shape[1]

    def times(weights: Matrix) -> Matrix:
        return vectors @ weights[:dimensions] + pieces.times(weights[dimensions:])

    def transposed_times(residuals: Matrix) -> Matrix:
        return np.vstack([vectors.T @ residuals, pieces.transposed_times(residuals)])

    residual = transposed_times(balance * targets)
    solution, direction = np.zeros_like(residual), residual.copy()
    size = _squares(residual)
    for _ in range(STEPS):
        image = transposed_times(balance * times(direction)) + PENALTY * direction
        step = size / np.maximum(_squares(direction, image), 1e-12)
        solution += step * direction
        residual -= step * image
        before, size = size, _squares(residual)
        turn = np.asarray(size / np.maximum(before, 1e-12), dtype=np.float32)
        direction = residual + turn * direction
    return solution


def _squares(left: Matrix, right: Matrix | None = None) -> Matrix:
    return np.asarray((left * (left if right is None else right)).sum(axis=0), dtype=np.float32)


def _pieces_of(texts: Sequence[str]) -> tuple[dict[str, int], Matrix, _Pieces]:
    found = [sorted(grams(text)) for text in texts]
    seen = Counter(gram for piece in found for gram in piece)
    vocabulary = {gram: index for index, gram in enumerate(seen)}
    rarity = np.log((len(texts) + 1) / (np.fromiter(seen.values(), dtype=np.float32) + 0.5)).astype(
        np.float32
    )
    pieces = np.fromiter((vocabulary[gram] for piece in found for gram in piece), dtype=np.int64)
    lengths = np.fromiter(map(len, found), dtype=np.int64)
    examples = np.repeat(np.arange(len(texts)), lengths)
    weights = rarity[pieces]
    norms = np.sqrt(np.bincount(examples, weights * weights, len(texts)))
    weights = (np.sqrt(PIECES) * weights / norms[examples]).astype(np.float32)[:, None]
    order = np.argsort(pieces, kind="stable")
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    return (
        vocabulary,
        rarity,
        _Pieces(
            count=len(texts),
            pieces=pieces,
            weights=weights,
            example_starts=starts[lengths > 0],
            filled=lengths > 0,
            examples=examples[order],
            weights_by_piece=weights[order],
            piece_starts=np.searchsorted(pieces[order], np.arange(len(vocabulary))),
        ),
    )
