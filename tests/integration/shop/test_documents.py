"""The shop's documents, found through the tool, and handing over."""

from __future__ import annotations

import pytest

from graph.shop.texts import FOLDER
from memory.database import Database
from memory.embeddings import make_embedder
from memory.knowledge import KnowledgeBase, read_documents
from nodes.settings import NodeSettings
from tests.support.shop import TOOLS, context_for
from tools.errors import TransientError
from tools.spec import ToolReply

QUESTIONS = [
    ("退货运费谁出", "returns.zh.md"),
    ("签收几天内可以退", "returns.zh.md"),
    ("多少钱包邮", "delivery.zh.md"),
    ("发票抬头写错了怎么办", "invoices.zh.md"),
    ("能不能用花呗分期", "payment.zh.md"),
    ("忘记密码怎么办", "account.zh.md"),
    ("耳机坏了保修多久", "warranty.zh.md"),
    ("客服电话是多少", "contact.zh.md"),
    ("how long does delivery to Canada take", "delivery.en.md"),
    ("who pays the postage of a return", "returns.en.md"),
    ("can I pay with PayPal", "payment.en.md"),
    ("how do I unsubscribe from the newsletter", "account.en.md"),
    ("is my data sold to others", "privacy.en.md"),
    ("cancellation fee", "payment.en.md"),
]


@pytest.fixture
async def knowledge(database: Database) -> KnowledgeBase:
    base = KnowledgeBase(database, make_embedder(NodeSettings()))
    await base.ingest(await read_documents(FOLDER / "documents"))
    return base


async def test_questions_find_the_document_that_answers_them(
    database: Database, knowledge: KnowledgeBase
) -> None:
    context = context_for(database, knowledge=knowledge)
    missed = []
    for question, source in QUESTIONS:
        found = await TOOLS["knowledge_search"].run({"query": question}, context)
        sources = [passage["source"] for passage in found["passages"]]
        if source not in sources:
            missed.append((question, sources))
    assert missed == []


async def test_a_missing_knowledge_base_is_an_error_of_the_system_not_of_the_customer(
    database: Database,
) -> None:
    with pytest.raises(TransientError, match="No knowledge base"):
        await TOOLS["knowledge_search"].run({"query": "退货"}, context_for(database))


async def test_handing_over_asks_the_graph_for_it_with_reason_and_summary(database: Database) -> None:
    args = {"reason": "The customer asks for a person.", "summary": "Order ABC-20240520-001 is late."}
    reply = await TOOLS["handoff_to_human"].run(args, context_for(database))
    assert isinstance(reply, ToolReply)
    assert reply.data == {"handed_over": True}
    assert reply.signals == {"handoff": args}
