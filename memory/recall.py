"""Recall: which of one user's memories matter to what they say now. One round trip to Postgres.

found = await recall(database, embedder, RecallRequest("user_123", "订单到哪里了", now=now, k=5))
[memory.content for memory in found]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import structlog
from psycopg.types.json import Jsonb

from memory.ageing import HalfLives
from memory.constraints import Constraint
from memory.database import Database
from memory.embeddings import Embedder, EmbeddingFailed, clean_text, question_text, vector_literal
from memory.evidence import BY_HAND
from memory.keywords import has_chinese, telling, terms
from memory.merge import same_statement
from memory.sql_file import read_sql
from memory.statement import Statement
from memory.user_lock import checked_user_id

log = structlog.get_logger(__name__)

SIMILARITY_WEIGHT = 0.5
"""Of the cosine, beside the keywords' coverage at 1."""
NEXT_WEIGHT, SECOND_WEIGHT = 0.4, 0.2
"""Of what was said one turn before or after, and two."""
AGE_WEIGHT = 0.2
"""A memory that has faded altogether keeps the rest of its score."""
IMPORTANCE_WEIGHT = 0.2
"""Between a memory of no importance and one of the highest."""
DEFAULT_FLOOR = 0.44
"""Fit under which nothing is injected; `bench.floor` measures what it keeps and what it lets through."""
IN_DOMAIN_FLOOR = 0.25
"""The same where a memory's label names the domain of the turn: what was said of deliveries may be put in quite
different words, or in another language, and still concern a question about a delivery."""
TERMS_WEIGHT = 1.7
"""Of the share of common terms beyond `CHANCE`, beside the cosine at 1."""
CHANCE = 0.08
"""Share of common terms that proves nothing."""
WORDS_ALONE = 2.5
"""Of the share of common terms where there is no vector to compare."""
DOUBT = 4.0
"""Added to the number of terms asked for, so that one word in common proves little."""
DOUBT_IN_CHINESE = 3.0
"""The same where Chinese is asked, which says in fewer words what English says."""
GENERAL = "general"
"""The domain that fits every intent."""
LONGEST_QUESTION = 48
"""Terms of a message that take part; beyond them a message names everything and asks for nothing."""
SPARE_CANDIDATES = 20
MOST_CONSTRAINTS = 5
RECALLED, CONSTRAINT = 1, 2
"""Why a row is in the answer."""

RECALL = read_sql("recall.sql")


@dataclass(frozen=True)
class RecallRequest:
    """Who asks, what they say, and how much is wanted."""

    user_id: str
    text: str
    now: datetime
    domains: tuple[str, ...] | None = None
    """Domain labels of the intent; memories labelled general always qualify. None: no filter."""
    k: int = 5
    floor: float | None = DEFAULT_FLOOR
    """Least fit; None: the best k whatever they are worth."""
    half_lives: HalfLives = field(default_factory=HalfLives)


@dataclass(frozen=True)
class Recalled:
    """One memory that fits."""

    id: str
    key: str
    content: str
    score: float
    """What it is ranked by: relevance, neighbours, importance and age."""
    fit: float
    """How well it fits what was said; this is what the floor is compared with."""
    domains: tuple[str, ...]
    type: str
    importance: float
    confidence: float
    updated_at: datetime
    thread_id: str | None
    message_id: str | None
    evidence: str = ""
    constrains: Constraint | None = None
    """What it is a constraint on, if it is one."""

    @property
    def grounds(self) -> str:
        """What of it may ground an argument: the customer's own words, or what the business or a person wrote."""
        return self.content if self.type == "state" or self.evidence == BY_HAND else self.evidence


@dataclass(frozen=True)
class TurnMemory:
    """All that memory has to say to one turn."""

    memories: tuple[Recalled, ...] = ()
    constraints: tuple[Recalled, ...] = ()
    """What can do harm when it is overlooked, the most important first, whether it fits or not."""
    summary: str = ""
    """Rolling summary of this thread's older messages."""
    folded_until: str | None = None
    """Id of the newest message that the summary covers."""
    key_facts: Mapping[str, str] = field(default_factory=dict)
    """What was said in this session and must not be lost, by key."""
    snapshots: tuple[str, ...] = ()
    """The user's latest earlier session, and the other one that fits best."""
    user_summary: str | None = None


async def recall(database: Database, embedder: Embedder, request: RecallRequest) -> list[Recalled]:
    """The user's memories that fit, best first, at most k; an empty list when nothing does.

    Raises InvalidInput for what cannot be a user id, DatabaseUnavailable. Without the embedding endpoint the
    words alone decide.
    """
    row = await _ask(database, embedder, request, None)
    return _fold_duplicates(_of(row, RECALLED), request.k)


async def recall_for_turn(
    database: Database, embedder: Embedder, request: RecallRequest, thread_id: str
) -> TurnMemory:
    """The same, with what the session layer knows of the thread and of the user's earlier sessions."""
    row = await _ask(database, embedder, request, thread_id)
    session = row["session"] or {}
    return TurnMemory(
        memories=tuple(_fold_duplicates(_of(row, RECALLED), request.k)),
        constraints=tuple(_fold_duplicates(_of(row, CONSTRAINT), MOST_CONSTRAINTS)),
        summary=session.get("summary", ""),
        folded_until=session.get("folded_until"),
        key_facts={**session.get("key_facts", {}), **row["facts"]},
        snapshots=tuple(row["snapshots"]),
        user_summary=row["user_summary"],
    )


async def _ask(
    database: Database, embedder: Embedder, request: RecallRequest, thread_id: str | None
) -> dict[str, Any]:
    row = await database.fetch_one(RECALL, await _parameters(embedder, request, thread_id))
    assert row is not None  # a SELECT without FROM gives exactly one row
    return row


async def _parameters(embedder: Embedder, request: RecallRequest, thread_id: str | None) -> dict[str, Any]:
    domains = None if request.domains is None else [*request.domains, GENERAL]
    text = clean_text(request.text)
    asked = terms(text)[:LONGEST_QUESTION]
    return {
        "user_id": checked_user_id(request.user_id),
        "thread_id": thread_id,
        "now": request.now,
        "domains": domains,
        "model": embedder.name,
        "vector": await _vector(embedder, request.text),
        "terms": asked,
        "telling": telling(text, asked),
        "half_lives": Jsonb(request.half_lives.by_type()),
        "floor": request.floor,
        "snapshot_floor": None if request.floor is None else max(request.floor, DEFAULT_FLOOR),
        "terms_weight": TERMS_WEIGHT,
        "chance": CHANCE,
        "words_alone": WORDS_ALONE,
        "candidates": request.k + SPARE_CANDIDATES,
        "constraints": MOST_CONSTRAINTS,
        "doubt": DOUBT_IN_CHINESE if has_chinese(text) else DOUBT,
        "similarity_weight": SIMILARITY_WEIGHT,
        "next_weight": NEXT_WEIGHT,
        "second_weight": SECOND_WEIGHT,
        "age_weight": AGE_WEIGHT,
        "importance_weight": IMPORTANCE_WEIGHT,
    }


async def _vector(embedder: Embedder, text: str) -> str | None:
    """The question as a vector; without one, keywords alone decide."""
    try:
        return vector_literal((await embedder.embed([question_text(text)]))[0])
    except EmbeddingFailed as error:
        log.warning("recall goes by keywords alone", error=str(error))
        return None


def _of(row: Mapping[str, Any], place: int) -> list[Mapping[str, Any]]:
    return [memory for memory in row["memories"] if memory["place"] == place]


def _fold_duplicates(rows: Sequence[Mapping[str, Any]], k: int) -> list[Recalled]:
    """The first k, of several that say the same only the best placed."""
    kept: list[Recalled] = []
    statements: list[Statement] = []
    for row in rows:
        memory = _recalled(row)
        statement = Statement(memory.key, memory.content, memory.type, memory.updated_at)
        if any(same_statement(statement, other) for other in statements):
            continue
        kept.append(memory)
        statements.append(statement)
        if len(kept) == k:
            break
    return kept


def _recalled(row: Mapping[str, Any]) -> Recalled:
    return Recalled(
        **{
            **{name: row[name] for name in Recalled.__dataclass_fields__},
            "domains": tuple(row["domains"]),
            "updated_at": datetime.fromisoformat(row["updated_at"]),
        }
    )
