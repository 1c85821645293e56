"""A text that several ask for at once is encoded once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import numpy as np
import pytest

from memory import embeddings
from memory.embeddings import LocalEmbedder, Vectors


class SlowModel:
    """Counts what it is given, and takes its time."""

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.encoded.extend(texts)
        time.sleep(0.05)
        return np.ones((len(texts), LocalEmbedder.dimensions), dtype=np.float32)


class BrokenOnce(SlowModel):
    def encode(self, texts: Sequence[str]) -> Vectors:
        vectors = super().encode(texts)
        if len(self.encoded) == len(texts):
            raise MemoryError
        return vectors


def embedder_with(model: SlowModel, monkeypatch: pytest.MonkeyPatch) -> LocalEmbedder:
    monkeypatch.setattr(embeddings, "_load_local_model", lambda: model)
    return LocalEmbedder()


async def test_a_text_that_is_asked_for_twice_at_once_is_encoded_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = SlowModel()
    embedder = embedder_with(model, monkeypatch)
    first, second = await asyncio.gather(embedder.embed(["same", "one"]), embedder.embed(["other", "same"]))
    assert sorted(model.encoded) == ["one", "other", "same"]
    assert first.any(axis=1).all()
    assert second.any(axis=1).all()


async def test_who_waited_for_another_that_failed_encodes_the_text_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    embedder = embedder_with(BrokenOnce(), monkeypatch)
    results = await asyncio.gather(
        embedder.embed(["same"]), embedder.embed(["same", ""]), return_exceptions=True
    )
    failed = [result for result in results if isinstance(result, MemoryError)]
    (vectors,) = [result for result in results if not isinstance(result, BaseException)]
    assert len(failed) == 1
    assert vectors[0].any()


async def test_what_is_anticipated_is_encoded_once_and_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    model = SlowModel()
    embedder = embedder_with(model, monkeypatch)
    embedder.anticipate("soon")
    embedder.anticipate("soon")
    assert (await embedder.embed(["soon"])).any()
    embedder.anticipate("soon")
    assert (await embedder.embed(["soon"])).any()
    assert model.encoded == ["soon"]
