"""Vectors made of words alone: loaded at once, for tests in which meaning plays no part."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from memory.embeddings import Vectors
from memory.keywords import terms


class WordEmbedder:
    """Hashed bags of words as unit vectors."""

    name = "test:words"
    dimensions = 64

    async def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for term in terms(text):
                vectors[row, zlib.crc32(term.encode()) % self.dimensions] += 1
        lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return np.asarray(vectors / lengths, dtype=np.float32)
