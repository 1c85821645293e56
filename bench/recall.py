"""Recall measured on public sets: Chinese conversations by user, and long English ones.

    python -m bench.recall DATA_DIR [--set memory_zh|locomo|locomo_facts|bfcl_memory]

Every figure comes from the product's own `memory.recall.recall`, the relevance floor off; bigram BM25 over the
same texts is measured in the same run. DATA_DIR holds the folders `memory_zh`, `locomo` and `bfcl_memory`, one
JSON object a line. DATABASE_URL names a server to use; none: the embedded one in STEWARD_HOME. What is written
there belongs to users named `bench:…` and is deleted at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from psycopg.types.json import Jsonb

import memory
from bench.bm25 import Bm25
from memory.database import Database, open_database
from memory.embeddings import Embedder, make_embedder, vector_literal
from memory.keywords import terms
from memory.memory_writer import INSERT
from memory.migrate import migrate
from memory.recall import RecallRequest, recall
from memory.settings import MemorySettings

DEPTHS = (1, 5, 10)
NOW = datetime(2024, 1, 1, tzinfo=UTC)
BATCH = 256


@dataclass(frozen=True)
class Document:
    """One thing to be recalled; `thread` and `position` say what was told beside it."""

    user: str
    id: str
    text: str
    thread: str = ""
    position: int = 0


@dataclass(frozen=True)
class Question:
    """`evidence` names what should be found; with `any_counts` one of them is enough."""

    id: str
    user: str
    text: str
    evidence: frozenset[str]
    kind: str
    any_counts: bool = False

    def score(self, found: Sequence[str]) -> float:
        hits = len(self.evidence & set(found))
        return float(hits > 0) if self.any_counts else hits / len(self.evidence)


@dataclass(frozen=True)
class Dataset:
    name: str
    documents: Sequence[Document]
    questions: Sequence[Question]
    evidence_of: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    """For layers above the turns: the evidence that a document stands for."""


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def memory_zh(data: Path) -> Dataset:
    positions: dict[tuple[str, str], int] = defaultdict(int)
    documents = []
    for row in read(data / "memory_zh/docs.jsonl"):
        thread = (row["user"], row["date"])
        positions[thread] += 1
        text = f"{row['date']} {row['query']} {row['response']}"
        documents.append(Document(row["user"], row["id"], text, row["date"], positions[thread]))
    questions = [
        Question(
            row["qid"],
            row["user"],
            row["question"],
            frozenset(row["evidence"]),
            row["kind"],
            row["evidence_mode"] == "any",
        )
        for row in read(data / "memory_zh/queries.jsonl")
        if row["evidence"]
    ]
    return Dataset("memory_zh", documents, questions)


def locomo(data: Path) -> Dataset:
    documents = []
    for row in read(data / "locomo/docs.jsonl"):
        text = f"{row['speaker']} ({row['time']}): {row['text']}"
        position = int(row["id"].split(":")[1])
        documents.append(Document(row["conv"], row["id"], text, f"session {row['session']}", position))
    return Dataset("locomo", documents, _locomo_questions(data))


def locomo_facts(data: Path) -> Dataset:
    documents, evidence = [], {}
    for number, row in enumerate(read(data / "locomo/facts.jsonl")):
        id = f"fact {number}"
        evidence[row["conv"], id] = frozenset(row["evidence"])
        text = f"{row['speaker']} ({row['time']}): {row['fact']}"
        documents.append(Document(row["conv"], id, text, f"session {row['session']}", number + 1))
    return Dataset("locomo_facts", documents, _locomo_questions(data), evidence)


def _locomo_questions(data: Path) -> list[Question]:
    return [
        Question(row["qid"], row["conv"], row["question"], frozenset(row["evidence"]), row["category"])
        for row in read(data / "locomo/queries.jsonl")
        if row["evidence"] and row["category"] != "adversarial"
    ]


def bfcl_memory(data: Path) -> Dataset:
    documents = [
        Document(row["scenario"], row["id"], row["text"]) for row in read(data / "bfcl_memory/docs.jsonl")
    ]
    questions = [
        Question(
            row["qid"],
            row["scenario"],
            row["question"],
            frozenset(row["candidate_evidence"]),
            row["scenario"],
            any_counts=True,
        )
        for row in read(data / "bfcl_memory/queries.jsonl")
        if row["candidate_evidence"]
    ]
    return Dataset("bfcl_memory", documents, questions)


SETS: dict[str, Callable[[Path], Dataset]] = {
    "memory_zh": memory_zh,
    "locomo": locomo,
    "locomo_facts": locomo_facts,
    "bfcl_memory": bfcl_memory,
}


async def store(database: Database, embedder: Embedder, run: str, documents: Sequence[Document]) -> None:
    """Each document as one memory, told at its place in its thread."""
    for start in range(0, len(documents), BATCH):
        batch = documents[start : start + BATCH]
        vectors = await embedder.embed([document.text for document in batch])
        rows = [
            _row(run, document, vector, embedder) for document, vector in zip(batch, vectors, strict=True)
        ]
        async with database.transaction() as connection, connection.cursor() as cursor:
            await cursor.executemany(INSERT, rows)


def _row(run: str, document: Document, vector: Any, embedder: Embedder) -> dict[str, Any]:
    return {
        "id": uuid4(),
        "user_id": f"{run}{document.user}",
        "key": document.id,
        "content": document.text,
        "vector": vector_literal(vector),
        "model": embedder.name,
        "keywords": terms(document.text),
        "type": "fact",
        "importance": 0.5,
        "confidence": 1.0,
        "domains": [],
        "scene": Jsonb({}),
        "evidence": "",
        "thread_id": f"{run}{document.user} {document.thread}",
        "message_id": document.id,
        "position": document.position,
        "said_at": NOW - timedelta(days=1),
        "valid_to": None,
        "superseded_by": None,
        "constrains": None,
    }


Finder = Callable[[Question], Awaitable[list[str]]]


async def measure(dataset: Dataset, find: Finder) -> dict[str, dict[int, float]]:
    """Recall at each depth, by kind of question and over all."""
    scores: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for question in dataset.questions:
        found = await find(question)
        for depth in DEPTHS:
            ids = _evidence(dataset, question.user, found[:depth])
            for group in (question.kind, "all"):
                scores[group][depth].append(question.score(ids))
    return {
        group: {depth: float(np.mean(values)) for depth, values in of_group.items()}
        for group, of_group in scores.items()
    }


def _evidence(dataset: Dataset, user: str, ids: Iterable[str]) -> list[str]:
    return [turn for id in ids for turn in dataset.evidence_of.get((user, id), frozenset({id}))]


async def run_set(database: Database, embedder: Embedder, dataset: Dataset) -> None:
    run = f"bench:{uuid4().hex}:"
    await store(database, embedder, run, dataset.documents)
    await database.execute("VACUUM ANALYZE user_memory")
    seconds: list[float] = []
    strangers = 0

    async def ours(question: Question) -> list[str]:
        nonlocal strangers
        user = f"{run}{question.user}"
        started = time.perf_counter()
        request = RecallRequest(user, question.text, NOW, k=max(DEPTHS), floor=None)
        found = await recall(database, embedder, request)
        seconds.append(time.perf_counter() - started)
        strangers += sum(not (memory.thread_id or "").startswith(user) for memory in found)
        return [memory.key for memory in found]

    by_user: dict[str, Bm25] = {}
    for user in {document.user for document in dataset.documents}:
        by_user[user] = Bm25([(d.id, d.text) for d in dataset.documents if d.user == user])

    async def bm25(question: Question) -> list[str]:
        return by_user[question.user].search(question.text, max(DEPTHS))

    try:
        print(f"\n{dataset.name}: {len(dataset.documents)} memories, {len(dataset.questions)} questions")
        _print("recall", await measure(dataset, ours))
        _print("bigram BM25", await measure(dataset, bm25))
        print(f"  rows of another user: {strangers}")
        print(f"  time a recall: p50 {_ms(seconds, 50)}, p95 {_ms(seconds, 95)} (embedding included)")
    finally:
        await database.execute("DELETE FROM user_memory WHERE starts_with(user_id, %s)", (run,))


def _print(name: str, scores: dict[str, dict[int, float]]) -> None:
    for group in sorted(scores, key=lambda group: (group != "all", group)):
        figures = "  ".join(f"R@{depth} {100 * value:5.1f}" for depth, value in scores[group].items())
        print(f"  {name:12} {group:24} {figures}")


def _ms(seconds: Sequence[float], percentile: int) -> str:
    return f"{1000 * float(np.percentile(seconds, percentile)):.1f} ms"


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--set", choices=SETS, action="append", help="default: all")
    arguments = parser.parse_args()
    settings = MemorySettings()
    async with open_database(settings) as database:
        await migrate(database, [("memory", Path(str(memory.__file__)).parent / "migrations")])
        embedder = make_embedder(settings)
        for name in arguments.set or SETS:
            await run_set(database, embedder, SETS[name](arguments.data))


if __name__ == "__main__":
    asyncio.run(main())
