"""The business's documents, to be searched in Chinese and English, each passage with its source.

knowledge = KnowledgeBase(database, embedder)
await knowledge.ingest(await read_documents(folder))
for passage in await knowledge.search("退货运费谁出", 3):
    print(passage.source, passage.title, passage.text)
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memory.database import Database
from memory.embeddings import Embedder, clean_text, vector_literal
from memory.keywords import terms, tsquery
from memory.passages import Chunk, Document, chunks
from memory.recall import LONGEST_QUESTION, SIMILARITY_WEIGHT
from memory.sql_file import read_sql
from memory.vectors import passage_store

SEARCH = read_sql("search_passages.sql")
STORED = "SELECT id FROM knowledge_passage WHERE embedding_model = %s"
KEEP_WORDS = "UPDATE knowledge_passage SET keywords = array_to_tsvector(%s::text[]) WHERE id = %s"
DROP_OTHERS = "DELETE FROM knowledge_passage WHERE NOT id = ANY(%s)"


@dataclass(frozen=True)
class Passage:
    """One passage that fits a question."""

    text: str
    source: str
    title: str
    score: float


class KnowledgeBase:
    """Documents in Postgres: stored through langchain-postgres, searched by vectors and keywords at once."""

    def __init__(self, database: Database, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder

    async def ingest(self, documents: Sequence[Document]) -> int:
        """Make the store hold exactly these documents; how many passages were new.

        Passages that are there already are left alone, so that a start without changes costs one query.
        """
        wanted = {chunk.id: chunk for document in documents for chunk in chunks(document)}
        stored = {row["id"] for row in await self._database.fetch(STORED, (self._embedder.name,))}
        new = [chunk for id, chunk in wanted.items() if id not in stored]
        if new:
            await self._add(new)
        if stored - wanted.keys() or new:
            await self._database.execute(DROP_OTHERS, (list(wanted),))
        return len(new)

    async def search(self, query: str, k: int = 4) -> list[Passage]:
        """The k passages that fit best, best first; none where nothing has been ingested."""
        text = clean_text(query)
        asked = [tsquery(term) for term in terms(text)[:LONGEST_QUESTION]]
        values = {
            "terms": asked,
            "vector": vector_literal((await self._embedder.embed([text]))[0]),
            "model": self._embedder.name,
            "similarity_weight": SIMILARITY_WEIGHT,
            "k": k,
        }
        return [Passage(**row) for row in await self._database.fetch(SEARCH, values)]

    async def _add(self, new: Sequence[Chunk]) -> None:
        async with passage_store(self._database, self._embedder) as store:
            await store.aadd_texts(
                [f"{chunk.title}\n{chunk.text}" for chunk in new],
                metadatas=[
                    {"source": chunk.source, "title": chunk.title, "embedding_model": self._embedder.name}
                    for chunk in new
                ],
                ids=[str(chunk.id) for chunk in new],
            )
        async with self._database.transaction() as connection, connection.cursor() as cursor:
            words = [(terms(f"{chunk.title} {chunk.text}"), chunk.id) for chunk in new]
            await cursor.executemany(KEEP_WORDS, words)


async def read_documents(folder: Path) -> list[Document]:
    """The Markdown files of a folder. Read in a thread."""
    return await asyncio.to_thread(
        lambda: [
            Document(path.name, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.md"))
        ]
    )
