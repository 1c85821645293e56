"""The memory and document tables as langchain-postgres vector stores, for whatever speaks LangChain's retrievers.

Steward's own recall ranks by more than vectors (`memory.recall`); this is the door for other LangChain code.

    async with user_retriever(database, embedder, "user_123", k=5) as retriever:
        documents = await retriever.ainvoke("订单到哪里了")
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from langchain_core.embeddings import Embeddings

from memory.database import NETWORK, Database
from memory.embeddings import Embedder
from memory.user_lock import checked_user_id

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStoreRetriever
    from langchain_postgres import PGVectorStore

MEMORY_COLUMNS = [
    "user_id",
    "memory_key",
    "memory_type",
    "importance",
    "confidence",
    "updated_at",
    "valid_to",
    "superseded_by",
    "embedding_model",
]
PASSAGE_COLUMNS = ["source", "title", "embedding_model"]


class LangChainEmbeddings(Embeddings):
    """An `Embedder` as LangChain knows it. Asynchronous calls only."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = (await self._embedder.embed(texts)).tolist()
        return vectors

    async def aembed_query(self, text: str) -> list[float]:
        return (await self.aembed_documents([text]))[0]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise NotImplementedError("Use the asynchronous methods: embedding must not block the event loop.")

    def embed_query(self, text: str) -> list[float]:
        raise NotImplementedError("Use the asynchronous methods: embedding must not block the event loop.")


@asynccontextmanager
async def memory_store(database: Database, embedder: Embedder) -> AsyncIterator[PGVectorStore]:
    """`user_memory` as a vector store. Searches need a filter by user: prefer `user_retriever`."""
    async with _store(database, embedder, "user_memory", MEMORY_COLUMNS, json_column="scene") as store:
        yield store


@asynccontextmanager
async def passage_store(database: Database, embedder: Embedder) -> AsyncIterator[PGVectorStore]:
    """`knowledge_passage` as a vector store."""
    async with _store(
        database, embedder, "knowledge_passage", PASSAGE_COLUMNS, json_column="metadata"
    ) as store:
        yield store


@asynccontextmanager
async def user_retriever(
    database: Database, embedder: Embedder, user_id: str, *, k: int = 5
) -> AsyncIterator[VectorStoreRetriever]:
    """A retriever bound to one user's valid memories; nothing it is asked can reach another's."""
    bound = {
        "$and": [
            {"user_id": {"$eq": checked_user_id(user_id)}},
            {"embedding_model": {"$eq": embedder.name}},
            {"superseded_by": {"$exists": False}},
            {"$or": [{"valid_to": {"$exists": False}}, {"valid_to": {"$gt": _now()}}]},
        ]
    }
    async with memory_store(database, embedder) as store:
        yield store.as_retriever(search_kwargs={"k": k, "filter": bound})


@asynccontextmanager
async def _store(
    database: Database, embedder: Embedder, table: str, columns: list[str], *, json_column: str
) -> AsyncIterator[PGVectorStore]:
    # Slow to import (2 s) and needed by few: in a thread, so that the event loop goes on.
    engine_class, store_class, create_engine = await asyncio.to_thread(_import)
    # Through PgBouncer the next statement may meet another server connection, which has nothing prepared.
    options = {**NETWORK, **({"prepare_threshold": None} if database.pgbouncer else {})}
    engine = create_engine(database.sqlalchemy_url, pool_size=2, connect_args=options)
    try:
        store: PGVectorStore = await store_class.create(
            engine_class.from_engine(engine),
            embedding_service=LangChainEmbeddings(embedder),
            table_name=table,
            schema_name=database.schema,
            id_column="id",
            content_column="content",
            embedding_column="embedding",
            metadata_columns=columns,
            metadata_json_column=json_column,
        )
        yield store
    finally:
        await engine.dispose()


def _import() -> tuple[Any, Any, Any]:
    from langchain_postgres import PGEngine, PGVectorStore
    from sqlalchemy.ext.asyncio import create_async_engine

    return PGEngine, PGVectorStore, create_async_engine


def _now() -> datetime:
    """Without a zone, since the store compares with TIMESTAMP; its connection runs in UTC."""
    return datetime.now(UTC).replace(tzinfo=None)
