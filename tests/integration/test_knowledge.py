"""Documents and vectors through langchain-postgres, Chinese included."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.database import Database
from memory.embeddings import LocalEmbedder
from memory.knowledge import KnowledgeBase, read_documents
from memory.passages import LONGEST_PASSAGE, Document, chunks
from memory.store import set_memory
from memory.vectors import user_retriever

DOCUMENTS = [
    Document(
        "returns.zh.md",
        "# 退换货\n\n## 期限\n签收后七天内可以无理由退货。\n\n## 运费\n质量问题的退货运费由商家承担。\n",
    ),
    Document(
        "delivery.en.md",
        "# Delivery\n\n## Abroad\nParcels to Canada take 10 to 15 days.\n\n## Evening\nEvening slots end at 21:00.\n",
    ),
    Document("invoice.zh.md", "# 发票\n\n## 抬头\n电子发票的抬头可以在下单时填写。\n"),
]


@pytest.mark.parametrize(
    ("question", "source", "title"),
    [
        ("退货运费谁出", "returns.zh.md", "退换货 – 运费"),
        ("几天内可以退货", "returns.zh.md", "退换货 – 期限"),
        ("delivery to Canada", "delivery.en.md", "Delivery – Abroad"),
        ("发票抬头怎么写", "invoice.zh.md", "发票 – 抬头"),
        ("寄到加拿大要多久", "delivery.en.md", "Delivery – Abroad"),
    ],
)
async def test_a_question_finds_the_passage_and_its_source(
    database: Database, embedder: LocalEmbedder, question: str, source: str, title: str
) -> None:
    knowledge = KnowledgeBase(database, embedder)
    await knowledge.ingest(DOCUMENTS)
    passages = await knowledge.search(question, 2)
    assert (passages[0].source, passages[0].title) == (source, title)
    assert len(passages) == 2


async def test_ingesting_again_adds_nothing_and_a_changed_document_replaces_its_passages(
    database: Database, embedder: LocalEmbedder
) -> None:
    knowledge = KnowledgeBase(database, embedder)
    assert await knowledge.ingest(DOCUMENTS) == 5
    assert await knowledge.ingest(DOCUMENTS) == 0
    changed = Document("invoice.zh.md", "# 发票\n\n## 抬头\n抬头不可更改。\n")
    assert await knowledge.ingest([*DOCUMENTS[:2], changed]) == 1
    rows = await database.fetch("SELECT content FROM knowledge_passage WHERE source = 'invoice.zh.md'")
    assert [row["content"] for row in rows] == ["发票 – 抬头\n抬头不可更改。"]


async def test_an_empty_knowledge_base_answers_with_nothing(
    database: Database, embedder: LocalEmbedder
) -> None:
    assert await KnowledgeBase(database, embedder).search("退货") == []


async def test_a_folder_of_markdown_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\ntext", encoding="utf-8")
    (tmp_path / "b.txt").write_text("no", encoding="utf-8")
    assert await read_documents(tmp_path) == [Document("a.md", "# A\ntext")]


def test_long_sections_are_cut_and_nothing_is_lost() -> None:
    text = "\n\n".join(f"paragraph {n} " + "word " * 80 for n in range(12)) + "\n\n" + "x" * 3000
    pieces = list(chunks(Document("long.md", f"# T\n\n{text}")))
    assert all(len(piece.text) <= LONGEST_PASSAGE + 2 for piece in pieces)
    assert "".join("".join(piece.text.split()) for piece in pieces) == "".join(text.split())


async def test_a_langchain_retriever_bound_to_a_user_reaches_that_user_alone(
    database: Database, embedder: LocalEmbedder
) -> None:
    await set_memory(database, embedder, "u_1", "pet", "Has a cat called Momo")
    await set_memory(database, embedder, "u_1", "pet", "Has a cat called Lulu")
    await set_memory(database, embedder, "ux1", "pet", "Has a cat called Tiger")
    async with user_retriever(database, embedder, "u_1") as retriever:
        documents = await retriever.ainvoke("my cat")
    assert [document.page_content for document in documents] == ["Has a cat called Lulu"]
    assert documents[0].metadata["memory_key"] == "pet"
