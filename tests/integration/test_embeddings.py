"""Vectors of texts, from the local model and from an endpoint."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from pydantic import SecretStr

from memory.embeddings import Embedder, EmbeddingFailed, LocalEmbedder, make_embedder, vector_literal
from memory.settings import MemorySettings


async def test_the_local_model_is_multilingual_and_gives_unit_vectors(embedder: LocalEmbedder) -> None:
    vectors = await embedder.embed(["我的包裹在哪里", "where is my parcel", "I like jazz"])
    assert vectors.shape == (3, embedder.dimensions)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2


async def test_texts_without_words_are_near_to_nothing_and_odd_ones_do_no_harm(
    embedder: LocalEmbedder,
) -> None:
    vectors = await embedder.embed(["", "  ", "\ud800", "a\x00b", "x" * 50_000])
    assert not vectors[:3].any()
    assert vectors[3:].any(axis=1).all()
    assert vector_literal(vectors[0]) is None
    assert (await embedder.embed([])).shape == (0, embedder.dimensions)


async def test_the_same_text_gives_the_same_vector_alone_and_in_a_batch(embedder: LocalEmbedder) -> None:
    alone = await embedder.embed(["green tea"])
    batch = await embedder.embed(["other", "green tea", "green tea"])
    assert np.allclose(batch[1], alone[0], atol=1e-4)
    assert np.array_equal(batch[1], batch[2])


def test_the_local_model_is_loaded_once_a_process() -> None:
    settings = MemorySettings(_env_file=None)
    assert make_embedder(settings) is make_embedder(settings)


class Endpoint(BaseHTTPRequestHandler):
    """`/embeddings` of an OpenAI-compatible server: the length of a text, and a one."""

    fail = False

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        data = [
            {"object": "embedding", "index": index, "embedding": [float(len(text)), 1.0]}
            for index, text in enumerate(body["input"])
        ]
        answer = {
            "object": "list",
            "model": body["model"],
            "data": data,
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }
        self.send_response(400 if self.fail else 200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, format: str, *arguments: object) -> None:
        """Silent."""


@pytest.fixture
def endpoint() -> Iterator[Embedder]:
    Endpoint.fail = False
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings = MemorySettings(
        _env_file=None,
        steward_embeddings="openai:some-model",
        openai_api_key=SecretStr("k"),
        openai_base_url=f"http://127.0.0.1:{server.server_port}/v1",
    )
    yield make_embedder(settings)
    server.shutdown()
    server.server_close()


async def test_an_endpoint_is_asked_with_plain_texts_and_its_vectors_become_unit_vectors(
    endpoint: Embedder,
) -> None:
    assert endpoint.name == "openai:some-model"
    assert endpoint.dimensions is None
    vectors = await endpoint.embed(["abc", "", "x"])
    assert endpoint.dimensions == 2
    assert np.allclose(vectors[0], np.array([3, 1]) / np.sqrt(10))
    assert not vectors[1].any()


async def test_an_endpoint_that_fails_is_told_apart_in_words(endpoint: Embedder) -> None:
    Endpoint.fail = True
    with pytest.raises(EmbeddingFailed, match="STEWARD_EMBEDDINGS"):
        await endpoint.embed(["abc"])
