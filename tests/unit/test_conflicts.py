"""The conflict policy on all cases of `bench.conflicts`, with the local embedder's similarities, without Postgres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import numpy as np
import pytest

from bench.conflicts.play import Case, read_cases
from memory.embeddings import LocalEmbedder
from memory.merge import decide
from memory.statement import Statement, free_key

MAY = datetime(2024, 5, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        ("cases.jsonl", 0.98),
        ("later.jsonl", 0.97),
        ("third.jsonl", 0.98),
        ("fourth.jsonl", 0.97),
        ("fifth.jsonl", 0.97),
        ("sixth.jsonl", 0.98),
        ("seventh.jsonl", 0.97),
        ("eighth.jsonl", 0.96),
        ("ninth.jsonl", 0.93),
        ("tenth.jsonl", 0.93),
        ("eleventh.jsonl", 0.96),
        ("twelfth.jsonl", 0.94),
        ("thirteenth.jsonl", 0.95),
    ],
)
async def test_cases_end_right_in_whatever_order_they_are_processed(
    embedder: LocalEmbedder, name: str, bound: float
) -> None:
    cases = read_cases(name)
    vectors = await embedded(embedder, cases)
    outcomes = [
        case.is_right(placed(case, order, vectors))
        for case in cases
        for order in (range(len(case.told)), range(len(case.told))[::-1])
    ]
    assert sum(outcomes) >= bound * len(outcomes)


@pytest.mark.parametrize("kind", ["similar", "temporary", "contradicted", "negated"])
async def test_no_contradiction_stands_and_a_statement_about_something_else_takes_nothing_away(
    embedder: LocalEmbedder, kind: str
) -> None:
    cases = [case for case in read_cases("cases.jsonl") if case.kind == kind]
    vectors = await embedded(embedder, cases)
    wrong = [case for case in cases if not case.is_right(placed(case, range(len(case.told)), vectors))]
    assert wrong == []


async def embedded(embedder: LocalEmbedder, cases: Sequence[Case]) -> dict[str, np.ndarray]:
    texts = list(dict.fromkeys(told.content for case in cases for told in case.told))
    return dict(zip(texts, await embedder.embed(texts), strict=True))


def placed(case: Case, order: Sequence[int], vectors: dict[str, np.ndarray]) -> list[str]:
    """What is valid once the statements have been placed in this order."""
    valid: list[Statement] = []
    for number in order:
        told = case.told[number]
        new = Statement(
            told.key,
            told.content,
            told.type,
            MAY + number * timedelta(days=1),
            uuid4(),
            evidence=told.words,
        )
        seen = [
            replace(other, similarity=float(vectors[new.content] @ vectors[other.content])) for other in valid
        ]
        decision = decide(new, seen)
        if decision.action == "insert":
            key = free_key(new.normal_key, {other.normal_key for other in valid})
            valid.append(replace(new, key=key))
        elif decision.action == "replace":
            key = next(other.key for other in valid if other.id in decision.targets)
            valid = [other for other in valid if other.id not in decision.targets] + [replace(new, key=key)]
    return [statement.content for statement in valid]
