"""What the classifier costs a first process and a second one."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from bench.routing.utterances import NAMES
from graph.shop.business import SHOP
from memory.embeddings import LocalEmbedder
from nodes.classifier import LocalRouter, labelled_examples
from nodes.classifier_store import ClassifierStore
from nodes.linear_model import fit


async def measure_speed(embedder: LocalEmbedder) -> None:
    """Print what a first process, a second one, and each message pay."""
    await embedder.embed(["warm"])
    examples = labelled_examples(SHOP)
    texts, labels = [text for text, _ in examples], [label for _, label in examples]
    began = time.perf_counter()
    vectors = await LocalEmbedder().embed(texts)
    embedding = time.perf_counter() - began
    walls, processor = [], []
    for _ in range(5):
        began, spent = time.perf_counter(), time.process_time()
        fit(texts, vectors, labels, len(NAMES))
        walls.append(time.perf_counter() - began)
        processor.append(time.process_time() - spent)
    with tempfile.TemporaryDirectory() as folder:
        await LocalRouter(SHOP, embedder, ClassifierStore(Path(folder))).train()
        began = time.perf_counter()
        await LocalRouter(SHOP, embedder, ClassifierStore(Path(folder))).train()
        second = time.perf_counter() - began
        size = await asyncio.to_thread(_bytes_in, Path(folder))
    print(f"\nspeed: {len(texts)} examples")
    print(f"  embedding them {embedding:.2f} s (first process, with loading the model)")
    print(
        f"  fit {1000 * min(walls):.0f} ms at best of five, {1000 * min(processor):.0f} ms of processor time"
    )
    print(f"  second process: ready after {1000 * second:.0f} ms, {size / 1024:.0f} kB on disk")


def _bytes_in(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())
