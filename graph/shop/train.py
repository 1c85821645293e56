"""Train the classifier that is shipped with the shop, after its examples or the training have changed.

python -m graph.shop.train
"""

from __future__ import annotations

import asyncio

from graph.shop.business import SHOP
from memory.embeddings import LocalEmbedder
from nodes.classifier import LocalRouter
from nodes.classifier_store import ClassifierStore


async def train() -> None:
    """Replace the shipped classifier; the one in place is left alone where it still fits."""
    assert SHOP.classifiers is not None, "the shop ships one"
    await LocalRouter(SHOP, LocalEmbedder(), ClassifierStore(SHOP.classifiers, kept=1)).train()


if __name__ == "__main__":
    asyncio.run(train())
