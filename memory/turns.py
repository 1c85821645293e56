"""What a batch of finished turns of one user leaves behind, written in one transaction.

Memories, session facts, the mark that a turn has been dealt with, and the end of its job come together or not
at all: a worker may die at any point, and a job that runs twice finds its turns marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory.database import Connection, Database
from memory.embeddings import Embedder, Vectors
from memory.expiry import ends_at
from memory.extraction import Admitted, Exchange, MemoryItem
from memory.memory_writer import MemoryWriter, NewMemory
from memory.statement import normalise_key
from memory.user_lock import last_erasure, lock_user, precedes

PROCESSED = """
SELECT thread_id, turn_id FROM session_turn
 WHERE (thread_id, turn_id) IN (SELECT * FROM unnest(%s::text[], %s::text[]))
"""
MARK = """
INSERT INTO session_turn (thread_id, turn_id, user_id, customer, answer, said_at)
VALUES (%s, %s, %s, %s, %s, %s)
"""
TOUCH = """
INSERT INTO session_memory (thread_id, user_id) VALUES (%(thread_id)s, %(user_id)s)
ON CONFLICT (thread_id) DO UPDATE
   SET last_activity_at = now(),
       user_id = excluded.user_id,
       -- a thread that changes hands keeps nothing of the user before
       summary = CASE WHEN session_memory.user_id = excluded.user_id THEN session_memory.summary ELSE '' END,
       key_facts = CASE WHEN session_memory.user_id = excluded.user_id THEN session_memory.key_facts ELSE '{}' END,
       fact_order = CASE WHEN session_memory.user_id = excluded.user_id THEN session_memory.fact_order ELSE '{}' END,
       folded_until = CASE WHEN session_memory.user_id = excluded.user_id THEN session_memory.folded_until END
"""
KEEP_FACT = """
INSERT INTO session_fact (thread_id, fact_key, user_id, content, memory_type, importance, confidence, domains,
                          evidence, source_message_id, said_at)
VALUES (%(thread_id)s, %(key)s, %(user_id)s, %(content)s, %(type)s, %(importance)s, %(confidence)s, %(domains)s,
        %(evidence)s, %(message_id)s, %(said_at)s)
ON CONFLICT (thread_id, fact_key) DO UPDATE
   SET user_id = excluded.user_id, content = excluded.content, memory_type = excluded.memory_type,
       importance = excluded.importance, confidence = excluded.confidence, domains = excluded.domains,
       evidence = excluded.evidence, source_message_id = excluded.source_message_id, said_at = excluded.said_at
 WHERE session_fact.said_at <= excluded.said_at OR session_fact.user_id <> excluded.user_id
"""
DROP_FACTS = "DELETE FROM session_fact WHERE thread_id = %s AND user_id = %s AND fact_key = ANY(%s)"
END_JOBS = "DELETE FROM procrastinate_jobs WHERE id = ANY(%s) AND status = 'todo'"


@dataclass(frozen=True)
class FinishedTurn:
    """One exchange, what the gate let through of it, and the job that brought it."""

    exchange: Exchange
    admitted: Admitted
    job_id: int | None = None


@dataclass(frozen=True)
class Written:
    """What came of a batch."""

    new: int
    """Turns that were not written before."""
    threads: frozenset[str]
    """Whose session has something to be summarised later; not those of a user who was erased meanwhile."""


async def apply(
    database: Database,
    embedder: Embedder,
    user_id: str,
    turns: Sequence[FinishedTurn],
    *,
    ended_jobs: Sequence[int] = (),
) -> Written:
    """Write a batch of one user's turns. `ended_jobs` are waiting jobs that this settles.

    Turns that were written before, and those of a user erased since they were queued, leave nothing.
    """
    ordered = sorted(turns, key=lambda turn: turn.exchange.said_at)
    items = [item for turn in ordered for item in turn.admitted.long_term]
    vectors = await embedder.embed([item.content for item in items])
    by_item = {id(item): vector for item, vector in zip(items, vectors, strict=True)}
    async with database.transaction() as connection:
        await lock_user(connection, user_id)
        erasure = await last_erasure(connection, user_id)
        live = [turn for turn in ordered if not precedes(turn.job_id, turn.exchange.after_job, erasure)]
        fresh = await _fresh(connection, live)
        memories = [_new_memory(turn, item, by_item) for turn in fresh for item in turn.admitted.long_term]
        await MemoryWriter(connection, user_id, embedder.name).write(memories)
        for turn in fresh:
            await _keep_session(connection, turn)
        await connection.execute(END_JOBS, (list(ended_jobs),))
    return Written(len(fresh), frozenset(turn.exchange.thread_id for turn in live))


async def _fresh(connection: Connection, turns: Sequence[FinishedTurn]) -> list[FinishedTurn]:
    cursor = await connection.execute(
        PROCESSED,
        ([turn.exchange.thread_id for turn in turns], [turn.exchange.turn_id for turn in turns]),
    )
    seen = {(row["thread_id"], row["turn_id"]) for row in await cursor.fetchall()}
    fresh = []
    for turn in turns:
        name = (turn.exchange.thread_id, turn.exchange.turn_id)
        if name not in seen:
            fresh.append(turn)
            seen.add(name)
    return fresh


async def _keep_session(connection: Connection, turn: FinishedTurn) -> None:
    exchange = turn.exchange
    await connection.execute(
        MARK,
        (
            exchange.thread_id,
            exchange.turn_id,
            exchange.user_id,
            exchange.customer,
            exchange.answer,
            exchange.said_at,
        ),
    )
    await connection.execute(TOUCH, {"thread_id": exchange.thread_id, "user_id": exchange.user_id})
    for item in turn.admitted.session:
        await connection.execute(KEEP_FACT, _fact(exchange, item))
    lasting = [normalise_key(item.key) for item in turn.admitted.long_term]
    if lasting:  # what has become long-term memory is no longer a guess of this session
        await connection.execute(DROP_FACTS, (exchange.thread_id, exchange.user_id, lasting))


def _fact(exchange: Exchange, item: MemoryItem) -> dict[str, object]:
    return {
        "thread_id": exchange.thread_id,
        "key": normalise_key(item.key),
        "user_id": exchange.user_id,
        "content": item.content,
        "type": item.type,
        "importance": item.importance,
        "confidence": item.confidence,
        "domains": list(item.domains),
        "evidence": item.evidence,
        "message_id": exchange.message_id,
        "said_at": exchange.said_at,
    }


def _new_memory(turn: FinishedTurn, item: MemoryItem, vectors: dict[int, Vectors]) -> NewMemory:
    exchange = turn.exchange
    return NewMemory(
        key=item.key,
        content=item.content,
        type=item.type,
        said_at=exchange.said_at,
        vector=vectors[id(item)],
        importance=item.importance,
        confidence=item.confidence,
        domains=tuple(item.domains),
        evidence=item.evidence,
        replaces=item.replaces,
        scene={"intents": list(exchange.intents), "about": list(exchange.about)},
        thread_id=exchange.thread_id,
        message_id=exchange.message_id,
        position=exchange.position,
        valid_to=ends_at(item.content, exchange.said_at, exchange.timezone),
    )
