"""The ridge classifier against the closed-form solution, and its file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nodes import linear_model
from nodes.classifier_store import ClassifierStore, key_of
from nodes.linear_model import PENALTY, PIECES, LinearModel, fit
from nodes.text_features import grams

TEXTS = [
    "refund my money",
    "give the money back",
    "I want a refund",
    "where is my parcel",
    "track the parcel",
    "!",
]
LABELS = [0, 0, 0, 1, 1, 1]


def vectors(count: int) -> linear_model.Matrix:
    rows = np.random.default_rng(1).normal(size=(count, 8)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


@pytest.fixture(scope="module")
def model() -> LinearModel:
    return fit(TEXTS, vectors(len(TEXTS)), LABELS, 2)


def test_the_steps_reach_the_closed_form_solution(model: LinearModel) -> None:
    dense = np.zeros((len(TEXTS), len(model.vocabulary)))
    for row, text in enumerate(TEXTS):
        known = [model.vocabulary[gram] for gram in grams(text)]
        if known:
            weights = model.rarity[known]
            dense[row, known] = np.sqrt(PIECES) * weights / np.linalg.norm(weights)
    features = np.hstack([np.sqrt(1 - PIECES) * vectors(len(TEXTS)), dense])
    targets = np.eye(2)[LABELS] - 0.5
    exact = np.linalg.solve(
        features.T @ features + float(PENALTY) * np.eye(features.shape[1]), features.T @ targets
    )
    found = np.vstack([model.vector_weights, model.piece_weights])
    assert np.abs(found - exact).max() < 1e-3


def test_a_word_decides_where_the_embedding_says_nothing(model: LinearModel) -> None:
    scores = model.scores(["a refund", "the parcel", "xyz"], np.zeros((3, 8), dtype=np.float32))
    assert scores[0].argmax() == 0
    assert scores[1].argmax() == 1
    assert scores[2] == pytest.approx(model.mean)


def test_a_class_with_few_examples_weighs_as_much_as_one_with_many() -> None:
    texts = ["refund"] * 30 + ["parcel"]
    trained = fit(texts, np.zeros((31, 4), dtype=np.float32), [0] * 30 + [1], 2)
    assert trained.mean == pytest.approx([0.5, 0.5])
    assert trained.scores(["parcel"], np.zeros((1, 4), dtype=np.float32))[0].argmax() == 1


def test_a_kept_model_scores_as_the_trained_one(model: LinearModel, tmp_path: Path) -> None:
    store = ClassifierStore(tmp_path / "not" / "yet")
    store.save("key", model)
    kept = store.load("key")
    assert kept is not None
    assert (kept.scores(TEXTS, vectors(6)) == model.scores(TEXTS, vectors(6))).all()
    assert [file.name for file in (tmp_path / "not" / "yet").iterdir()] == ["key.npz"]


def test_a_shipped_model_is_found_before_any_is_kept(model: LinearModel, tmp_path: Path) -> None:
    ClassifierStore(tmp_path / "shipped").save("key", model)
    assert ClassifierStore(tmp_path / "home", tmp_path / "shipped").load("key") is not None
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b"nonsense"])
def test_a_damaged_file_is_as_good_as_none(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "key.npz").write_bytes(content)
    assert ClassifierStore(tmp_path).load("key") is None


def test_a_folder_that_cannot_be_written_does_no_harm(model: LinearModel, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = ClassifierStore(tmp_path / "file")
    store.save("key", model)
    assert store.load("key") is None


def test_old_files_make_room(model: LinearModel, tmp_path: Path) -> None:
    store = ClassifierStore(tmp_path, kept=2)
    for key in ("a", "b", "c"):
        store.save(key, model)
    assert len(list(tmp_path.iterdir())) == 2


def test_the_key_changes_with_examples_names_and_embedder() -> None:
    keys = {
        key_of("e", ["a"], [("x", 0)]),
        key_of("f", ["a"], [("x", 0)]),
        key_of("e", ["b"], [("x", 0)]),
        key_of("e", ["a"], [("y", 0)]),
    }
    assert len(keys) == 4
