"""Writes new statements about one user through the conflict policy, inside a transaction that holds their lock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from memory.constraints import constraint_of
from memory.database import Connection
from memory.embeddings import Vectors, vector_literal
from memory.extraction import MemoryType
from memory.keywords import terms
from memory.merge import Decision, decide, same_statement
from memory.sql_file import read_sql
from memory.statement import Statement, free_key, normalise_key

RELATED = read_sql("related_memories.sql")
INSERT = read_sql("insert_memory.sql")
CONFIRM = """
UPDATE user_memory
   SET valid_to = greatest(valid_to, %(valid_to)s),
       last_confirmed_at = greatest(last_confirmed_at, %(said_at)s),
       updated_at = greatest(updated_at, %(said_at)s),
       confidence = greatest(confidence, %(confidence)s),
       importance = greatest(importance, %(importance)s),
       domains = ARRAY(SELECT DISTINCT unnest(domains || %(domains)s::text[]) ORDER BY 1)
 WHERE user_id = %(user_id)s AND id = ANY(%(targets)s)
"""
# A row of the same key that has ended makes room too: one key has one row that nothing supersedes.
SUPERSEDE = """
UPDATE user_memory SET superseded_by = %(id)s, valid_to = least(valid_to, %(said_at)s)
 WHERE user_id = %(user_id)s AND superseded_by IS NULL
   AND (id = ANY(%(targets)s) OR (memory_key = %(key)s AND valid_to <= %(now)s))
"""
# Where the key is free, which an index tells, nothing is looked through.
NAMESAKES = """
SELECT memory_key FROM user_memory
 WHERE user_id = %(user_id)s AND superseded_by IS NULL AND (valid_to IS NULL OR valid_to > %(now)s)
   AND EXISTS (SELECT FROM user_memory AS taken
                WHERE taken.user_id = %(user_id)s AND taken.memory_key = %(key)s AND taken.superseded_by IS NULL)
   AND regexp_replace(memory_key, '\\.\\d+$', '') = regexp_replace(%(key)s, '\\.\\d+$', '')
"""
BUMP = """
INSERT INTO user_memory_version (user_id, version) VALUES (%s, 1)
ON CONFLICT (user_id) DO UPDATE SET version = user_memory_version.version + 1
"""


@dataclass(frozen=True)
class NewMemory:
    """A statement on its way into long-term memory."""

    key: str
    content: str
    type: MemoryType
    said_at: datetime
    vector: Vectors | None
    importance: float = 0.5
    confidence: float = 1.0
    domains: tuple[str, ...] = ()
    evidence: str = ""
    replaces: str | None = None
    """Key of the known memory that it stands in place of, where whoever made it says so."""
    scene: Mapping[str, Any] = field(default_factory=dict)
    thread_id: str | None = None
    message_id: str | None = None
    position: int | None = None
    valid_to: datetime | None = None
    """When it ceases to hold by itself; None: not before something replaces it."""

    @property
    def search_terms(self) -> list[str]:
        """What it is found by: its words, and those of its key, which are often of the other language."""
        return terms(f"{self.content} {normalise_key(self.key).replace('_', ' ')}")


class MemoryWriter:
    """Places statements of one user one after the other; later ones see what earlier ones did."""

    def __init__(self, connection: Connection, user_id: str, model: str) -> None:
        self._connection = connection
        self._user_id = user_id
        self._model = model
        self._now = datetime.now(UTC)

    async def write(self, memories: Sequence[NewMemory], *, overrule: bool = False) -> list[Decision]:
        """What became of each. With `overrule`, a newer statement of the same key gives way too, and the memory is
        kept as it is given, under its own key."""
        if not memories:
            return []
        self._now = max(datetime.now(UTC), *(memory.said_at for memory in memories))
        related = await self._related(memories)
        valid = {statement.id: statement for of_one in related for statement in of_one}
        written: dict[UUID, tuple[Statement, Vectors | None]] = {}
        decisions = []
        for memory, of_one in zip(memories, related, strict=True):
            known = [statement for statement in of_one if statement.id in valid]
            known += [_seen_from(memory, *item) for id, item in written.items() if id in valid]
            id = uuid4()
            decision, key = await self._place(memory, known, id, overrule)
            decisions.append(decision)
            for target in decision.targets if decision.action == "replace" else ():
                valid.pop(target, None)
            if decision.action in ("insert", "replace"):
                statement = replace(_statement(memory), id=id, key=key)
                written[id] = (statement, memory.vector)
                valid[id] = statement
        if any(decision.action != "stale" for decision in decisions):
            await self._connection.execute(BUMP, (self._user_id,))
        return decisions

    async def _place(
        self, memory: NewMemory, known: Sequence[Statement], id: UUID, overrule: bool
    ) -> tuple[Decision, str]:
        """What becomes of it, and the key that it is kept under."""
        new = _statement(memory)
        states = [other for other in known if other.type == "state" and memory.type != "state"]
        if any(other.normal_key == new.normal_key for other in states):
            return Decision("stale"), new.normal_key  # the business's own word on this key stands
        known = [other for other in known if other not in states]
        if overrule:
            known = [replace(other, said_at=min(other.said_at, memory.said_at)) for other in known]
        decision = decide(
            new,
            known,
            key_decides=overrule,
            replaces=normalise_key(memory.replaces) if memory.replaces else None,
        )
        if overrule and decision.action == "confirm":
            decision = Decision("replace", decision.targets)
        key = new.normal_key if overrule else await self._key_for(memory, known, decision)
        match decision.action:
            case "confirm":
                await self._confirm(memory, decision)
            case "insert" | "replace":
                await self._supersede(memory, decision, id, key)
                await self._insert(memory, id, key=key, valid_to=memory.valid_to)
            case "stale":
                await self._keep_for_audit(memory, known, decision, id)
        return decision, key

    async def _key_for(self, memory: NewMemory, known: Sequence[Statement], decision: Decision) -> str:
        """A thing keeps the key it is known by, so that the next statement finds it; a namesake gets a number."""
        own = normalise_key(memory.key)
        keys = [other.key for other in known if other.id in decision.targets]
        if keys:
            return own if own in keys else keys[0]
        cursor = await self._connection.execute(
            NAMESAKES, {"user_id": self._user_id, "now": self._now, "key": own}
        )
        return free_key(own, {row["memory_key"] for row in await cursor.fetchall()})

    async def _related(self, memories: Sequence[NewMemory]) -> list[list[Statement]]:
        cursor = await self._connection.execute(
            RELATED,
            {
                "user_id": self._user_id,
                "model": self._model,
                "now": self._now,
                "keys": [normalise_key(memory.key) for memory in memories],
                "replaced": [normalise_key(memory.replaces or memory.key) for memory in memories],
                "vectors": [vector_literal(memory.vector) for memory in memories],
                "terms": [" ".join(memory.search_terms) for memory in memories],
            },
        )
        related: list[list[Statement]] = [[] for _ in memories]
        async for row in cursor:
            related[row["number"] - 1].append(
                Statement(
                    key=row["memory_key"],
                    content=row["content"],
                    type=row["memory_type"],
                    said_at=row["last_confirmed_at"],
                    id=row["id"],
                    similarity=row["similarity"],
                    evidence=row["evidence"],
                )
            )
        return related

    async def _confirm(self, memory: NewMemory, decision: Decision) -> None:
        values = {
            "user_id": self._user_id,
            "targets": list(decision.targets),
            "said_at": memory.said_at,
            "confidence": memory.confidence,
            "importance": memory.importance,
            "domains": list(memory.domains),
            "valid_to": memory.valid_to,
        }
        await self._connection.execute(CONFIRM, values)

    async def _supersede(self, memory: NewMemory, decision: Decision, id: UUID, key: str) -> None:
        values = {
            "id": id,
            "user_id": self._user_id,
            "targets": list(decision.targets),
            "key": key,
            "said_at": memory.said_at,
            "now": self._now,
        }
        await self._connection.execute(SUPERSEDE, values)

    async def _keep_for_audit(
        self, memory: NewMemory, known: Sequence[Statement], decision: Decision, id: UUID
    ) -> None:
        """An older statement that came late joins the history, unless it says what is known anyway."""
        newer = next((other for other in known if other.id in decision.targets), None)
        if newer is not None and not same_statement(_statement(memory), newer):
            await self._insert(memory, id, superseded_by=newer.id, valid_to=newer.said_at)

    async def _insert(
        self,
        memory: NewMemory,
        id: UUID,
        *,
        key: str | None = None,
        superseded_by: UUID | None = None,
        valid_to: datetime | None = None,
    ) -> None:
        vector = vector_literal(memory.vector)
        values = {
            "id": id,
            "user_id": self._user_id,
            "key": key or normalise_key(memory.key),
            "content": memory.content,
            "vector": vector,
            "model": self._model if vector else None,
            "keywords": memory.search_terms,
            "type": memory.type,
            "importance": memory.importance,
            "confidence": memory.confidence,
            "domains": list(memory.domains),
            "scene": Jsonb(dict(memory.scene)),
            "evidence": memory.evidence,
            "thread_id": memory.thread_id,
            "message_id": memory.message_id,
            "position": memory.position,
            "said_at": memory.said_at,
            "valid_to": valid_to,
            "superseded_by": superseded_by,
            "constrains": constraint_of(memory.content),
        }
        await self._connection.execute(INSERT, values)


def _statement(memory: NewMemory) -> Statement:
    return Statement(memory.key, memory.content, memory.type, memory.said_at, evidence=memory.evidence)


def _seen_from(memory: NewMemory, statement: Statement, vector: Vectors | None) -> Statement:
    if memory.vector is None or vector is None:
        return statement
    return replace(statement, similarity=float(memory.vector @ vector))
