"""What recall reads of a memory: kept right for old rows, long texts and other embedding models; fast by its index."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from bench.scale.fill import fill, zipf_sizes
from bench.scale.measure import TimedDatabase, measure, plan
from memory.database import Database
from memory.embeddings import Embedder, LocalEmbedder, Vectors
from memory.keywords import terms
from memory.memory_writer import MemoryWriter, NewMemory
from memory.merge import same_statement
from memory.migrate import migrate
from memory.recall import RecallRequest, recall
from memory.statement import Statement
from tests.conftest import PACKAGES
from tests.support.memory import MAY

LATER = MAY + timedelta(days=1)
SENTENCES = [
    f"{who} {what} {how}"
    for who in ("The customer", "A colleague", "女儿")
    for what in ("ordered green tea", "asks for an invoice", "收到了包裹", "likes jazz", "退了一双鞋")
    for how in ("on Monday", "by e-mail", "在上海", "for the third time")
]


@pytest.fixture
async def old_database(empty_database_url: str, tmp_path: Path) -> AsyncIterator[Database]:
    """The schema as it was before the search columns, with one memory."""
    for path in PACKAGES["memory"].glob("*.sql"):
        if path.name < "0070":
            shutil.copy(path, tmp_path)
    async with Database(empty_database_url, size=1) as database:
        await migrate(database, [("memory", tmp_path)])
        yield database


async def test_memories_of_the_older_schema_are_found_after_the_migration(
    old_database: Database, embedder: LocalEmbedder
) -> None:
    (vector,) = await embedder.embed(["对花生过敏"])
    await old_database.execute(
        "INSERT INTO user_memory (user_id, memory_key, content, embedding, embedding_model, keywords, memory_type)"
        " VALUES ('u', 'allergy', '对花生过敏', %s::vector, %s, array_to_tsvector('{花生,过敏}'), 'fact'),"
        " ('u', 'bare', 'No vector, no words', NULL, NULL, '', 'fact')",
        (str(vector.tolist()), embedder.name),
    )
    await migrate(old_database, [("memory", PACKAGES["memory"])])
    found = await recall(old_database, embedder, RecallRequest("u", "我能吃花生吗", LATER))
    assert [memory.key for memory in found] == ["allergy"]
    everything = await recall(old_database, embedder, RecallRequest("u", "我能吃花生吗", LATER, floor=None))
    assert [memory.key for memory in everything] == ["allergy", "bare"]


async def test_a_memory_too_long_for_the_index_is_found_like_any_other(
    database: Database, embedder: LocalEmbedder
) -> None:
    long = "".join(chr(0x4E00 + number) for number in range(900))
    await _write(database, embedder, "u" * 900, [("long", long), ("other", "likes jazz")])
    assert await database.fetch("SELECT FROM user_memory WHERE NOT fits_index")
    for length in range(100, 2000, 100):  # nothing that counts as short enough is too long after all
        odd = "".join(random.Random(length).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=length))
        await database.execute("UPDATE user_memory SET source_thread_id = %s", (odd,))
    request = RecallRequest("u" * 900, long[700:704], LATER, k=1, floor=None)
    assert [memory.key for memory in await recall(database, embedder, request)] == ["long"]


class NoEmbedder:
    """Vectors without a direction: words alone decide."""

    name = "test:none"
    dimensions = 8

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return np.zeros((len(texts), self.dimensions), dtype=np.float32)


async def test_every_term_of_a_long_question_counts(database: Database) -> None:
    words = [f"{letter}{other}word" for letter in "abcdefgh" for other in "pqrstu"]
    await _write(database, NoEmbedder(), "u", [(word, f"{word} again") for word in words])
    for word in words:
        others = [f"filler{number}x" for number in range(words.index(word))]
        question = " ".join([*others, word])
        found = await recall(database, NoEmbedder(), RecallRequest("u", question, LATER, k=1, floor=None))
        assert [memory.key for memory in found] == [word], "its place in the question does not matter"


class LongEmbedder:
    """1,536 dimensions, of which the first 512 are the same for every text."""

    name = "test:long"
    dimensions = 1536

    async def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        vectors[:, 0] = 1
        for row, text in enumerate(texts):
            vectors[row, 512 + len(text)] = 1
        return np.asarray(vectors / np.sqrt(2), dtype=np.float32)


async def test_vectors_of_more_dimensions_than_the_index_holds_are_compared_in_full(
    database: Database,
) -> None:
    contents = [(f"m{length}", "x" * length) for length in range(1, 9)]
    await _write(database, LongEmbedder(), "u", contents)
    for key, content in contents:
        question = "y" * len(content)  # no word in common
        found = await recall(database, LongEmbedder(), RecallRequest("u", question, LATER, k=3, floor=None))
        assert found[0].key == key
        assert found[0].fit == pytest.approx(1, abs=1e-3)
        assert found[1].fit == pytest.approx(0.5, abs=1e-3)


HIDDEN = "SELECT FROM pg_class WHERE oid = 'user_memory'::regclass AND relallvisible < relpages"


async def test_among_many_users_each_gets_ten_rows_from_an_index_that_holds_all_it_needs(
    database_url: str, embedder: LocalEmbedder
) -> None:
    people = [(f"user {rank}", size) for rank, size in enumerate(zipf_sizes(1200, 40, 100), 1)]
    async with TimedDatabase(database_url, size=1) as database:
        await database.execute(
            "SET synchronous_commit = on"
        )  # else the vacuum comes before the commit is safe
        await fill(database, embedder, SENTENCES, people, MAY)
        while await database.fetch(HIDDEN):  # what runs beside this can keep a vacuum from marking every page
            await database.execute("VACUUM user_memory")
        explained = await plan(database, embedder, "user 1", SENTENCES[0], MAY)
        times = await measure(database, embedder, people[:12], SENTENCES, MAY, random.Random(1))
    assert "Index Only Scan using user_memory_search" in explained
    assert times.short == 0


async def test_the_ten_best_are_those_of_an_exhaustive_search_in_full_precision(
    database: Database, embedder: LocalEmbedder
) -> None:
    await fill(database, embedder, SENTENCES, [("u", 500), ("other", 20)], MAY)
    await database.execute(
        "UPDATE user_memory SET importance = 0.5, last_confirmed_at = %s, source_thread_id = NULL", (MAY,)
    )
    rows = await database.fetch("SELECT content, embedding::text FROM user_memory WHERE user_id = 'u'")
    contents = [row["content"] for row in rows]
    vectors = np.array([json.loads(row["embedding"]) for row in rows])
    for question in (SENTENCES[0], "invoice by e-mail, 女儿", "who listens to music?"):
        found = await recall(database, embedder, RecallRequest("u", question, MAY, k=10, floor=None))
        cosines = vectors @ (await embedder.embed([question]))[0]
        relevance = _relevance(contents, question, cosines)
        best = _unlike(contents, np.argsort(-relevance), 10)
        assert [memory.score for memory in found] == pytest.approx(list(relevance[best]), abs=2e-3)


def _unlike(contents: Sequence[str], order: Sequence[int], k: int) -> list[int]:
    """The first k of which no two say the same, as recall folds them."""
    chosen: list[Statement] = []
    indices: list[int] = []
    for index in order:
        statement = Statement("key", contents[index], "fact", MAY)
        if len(indices) < k and not any(same_statement(statement, other) for other in chosen):
            chosen.append(statement)
            indices.append(index)
    return indices


def _relevance(contents: Sequence[str], question: str, cosines: Vectors) -> Vectors:
    """Cosine and BM25 as the query has them, of each memory, in floating point throughout."""
    held = [set(terms(content)) for content in contents]
    mean = np.mean([len(words) for words in held])
    asked, found = 0.0, np.zeros(len(contents))
    for term in terms(question):
        holders = np.array([term in words for words in held])
        idf = np.log(1 + (len(held) - holders.sum() + 0.5) / (holders.sum() + 0.5))
        asked += idf
        found += idf * holders
    lengths = np.array([len(words) for words in held])
    normalised = found * 2.2 / (1 + 1.2 * (0.6 + 0.4 * lengths / mean))
    return np.asarray(normalised / max(asked, 1e-9) + 0.5 * cosines)


async def _write(
    database: Database,
    embedder: Embedder,
    user: str,
    contents: Sequence[tuple[str, str]],
) -> None:
    vectors = await embedder.embed([content for _, content in contents])
    memories = [
        NewMemory(key, content, "fact", MAY, vector)
        for (key, content), vector in zip(contents, vectors, strict=True)
    ]
    async with database.transaction() as connection:
        await MemoryWriter(connection, user, embedder.name).write(memories)
