"""The trained classifier on disk, so that the next process need not embed the examples again.

A file is named for everything that shaped the model: examples, embedder, and the code that trains. What cannot be
read or written is trained anew; nothing is lost but a second or two.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import numpy as np
import structlog

from nodes import linear_model, text_features
from nodes.linear_model import LinearModel

log = structlog.get_logger(__name__)

KEPT = 8
"""Files; the oldest beyond them go."""


class ClassifierStore:
    """A folder of trained classifiers, and one that came with the business. Blocks: call it in a thread."""

    def __init__(self, folder: Path, shipped: Path | None = None, *, kept: int = KEPT) -> None:
        self._folder = folder
        self._shipped = shipped
        self._kept = kept

    def load(self, key: str) -> LinearModel | None:
        """The model of that key; None where there is none that can be read."""
        folders = [self._shipped, self._folder] if self._shipped else [self._folder]
        models = (_read(folder / f"{key}.npz") for folder in folders)
        return next((model for model in models if model is not None), None)

    def save(self, key: str, model: LinearModel) -> None:
        """Keep a model. A reader never finds half a file; a folder that cannot be written is only logged."""
        draft = self._folder / f"{key}.{os.getpid()}.{uuid4().hex}.draft"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with draft.open("wb") as file:
                np.savez_compressed(
                    file,
                    vocabulary=np.frombuffer("\n".join(model.vocabulary).encode("utf-8"), dtype=np.uint8),
                    rarity=model.rarity,
                    piece_weights=model.piece_weights,
                    vector_weights=model.vector_weights,
                    mean=model.mean,
                )
            draft.replace(self._file(key))
            self._forget_oldest()
        except OSError as error:
            log.info("trained classifier not kept", folder=str(self._folder), error=str(error))
            self._remove(draft)

    def _file(self, key: str) -> Path:
        return self._folder / f"{key}.npz"

    def _forget_oldest(self) -> None:
        files = sorted(self._folder.glob("*.npz"), key=lambda file: file.stat().st_mtime, reverse=True)
        for file in files[self._kept :]:
            self._remove(file)

    def _remove(self, file: Path) -> None:
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            log.debug("file not removed", file=str(file), error=str(error))


def key_of(embedder: str, names: Sequence[str], examples: Sequence[tuple[str, int]]) -> str:
    """What a model depends on, as a short name: the embedder, the classes, the examples, and the training code."""
    digest = hashlib.sha256(json.dumps([embedder, list(names), list(examples)]).encode())
    for module in (linear_model, text_features):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()[:32]


def _read(file: Path) -> LinearModel | None:
    try:
        with np.load(file, allow_pickle=False) as stored:
            grams = stored["vocabulary"].tobytes().decode("utf-8").split("\n")
            model = LinearModel(
                vocabulary={gram: index for index, gram in enumerate(grams)},
                rarity=stored["rarity"],
                piece_weights=stored["piece_weights"],
                vector_weights=stored["vector_weights"],
                mean=stored["mean"],
            )
    except FileNotFoundError:
        return None
    except Exception as error:  # a damaged file fails in many ways, none of which matters
        log.info("stored classifier not readable; training anew", error=type(error).__name__)
        return None
    return model if len(model.vocabulary) == len(model.rarity) == len(model.piece_weights) else None
