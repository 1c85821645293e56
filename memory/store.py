"""A user's long-term memories by hand: listed, corrected, forgotten one by one, shown to the extractor.

Whatever is written goes through the conflict policy under the user's lock. Keys are spelled one way
(`normalise_key`), so `Delivery Day` and `delivery_day` name the same memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, LiteralString

from memory.clean import clean_text
from memory.database import Database
from memory.embeddings import Embedder
from memory.errors import InvalidInput
from memory.evidence import BY_HAND
from memory.extraction import LONGEST_CONTENT, LONGEST_KEY, KnownMemory, MemoryType
from memory.masking import mask
from memory.memory_writer import BUMP, MemoryWriter, NewMemory
from memory.statement import normalise_key
from memory.user_lock import checked_user_id, lock_user

LIST = """
SELECT memory_key AS key, content, memory_type AS type, importance, confidence, domains, scene, evidence,
       source_thread_id AS thread_id, source_message_id AS message_id,
       created_at, updated_at, last_confirmed_at, valid_from, valid_to
  FROM user_memory
 WHERE user_id = %s AND superseded_by IS NULL AND (valid_to IS NULL OR valid_to > %s)
 ORDER BY last_confirmed_at DESC, memory_key
"""
KNOWN = """
SELECT memory_key AS key, content, memory_type AS type, domains
  FROM user_memory
 WHERE user_id = %s AND superseded_by IS NULL AND (valid_to IS NULL OR valid_to > %s) AND memory_type <> 'state'
 ORDER BY last_confirmed_at DESC, memory_key
 LIMIT %s
"""
# What a memory replaced may have had another key.
FORGET_KEY = """
WITH RECURSIVE history AS (
    SELECT id FROM user_memory WHERE user_id = %(user_id)s AND memory_key = ANY(%(keys)s)
    UNION
    SELECT memory.id FROM user_memory AS memory JOIN history ON memory.superseded_by = history.id
     WHERE memory.user_id = %(user_id)s
)
DELETE FROM user_memory WHERE user_id = %(user_id)s AND id IN (SELECT id FROM history)
"""
FORGET_FACT = "DELETE FROM session_fact WHERE user_id = %(user_id)s AND fact_key = ANY(%(keys)s)"
FORGET_ALL = "DELETE FROM user_memory WHERE user_id = %(user_id)s"
FORGET_FACTS = "DELETE FROM session_fact WHERE user_id = %(user_id)s"
STATE_KEY = """
SELECT 1 FROM user_memory
 WHERE user_id = %s AND memory_key = ANY(%s) AND memory_type = 'state' AND superseded_by IS NULL
   AND (valid_to IS NULL OR valid_to > %s)
"""

KNOWN_SHOWN = 40
"""Memories that an extractor is shown, the latest first."""


@dataclass(frozen=True)
class Memory:
    """One valid memory of a user."""

    key: str
    content: str
    type: MemoryType
    importance: float
    confidence: float
    domains: tuple[str, ...]
    scene: Mapping[str, Any]
    evidence: str
    thread_id: str | None
    message_id: str | None
    created_at: datetime
    updated_at: datetime
    last_confirmed_at: datetime
    valid_from: datetime
    valid_to: datetime | None

    def to_json(self) -> dict[str, Any]:
        """JSON-native values, times in ISO 8601."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in {**values, "domains": list(self.domains), "scene": dict(self.scene)}.items()
        }


async def list_memories(database: Database, user_id: str, *, now: datetime | None = None) -> list[Memory]:
    """What is valid of a user, the latest first."""
    rows = await database.fetch(LIST, (checked_user_id(user_id), now or datetime.now(UTC)))
    return [_memory(row) for row in rows]


async def known_memories(
    database: Database, user_id: str, *, now: datetime, limit: int = KNOWN_SHOWN
) -> list[KnownMemory]:
    """What an extractor is shown, so that the same kind of fact gets the same key."""
    rows = await database.fetch(KNOWN, (user_id, now, limit))
    return [KnownMemory(**{**row, "domains": tuple(row["domains"])}) for row in rows]


async def set_memory(
    database: Database,
    embedder: Embedder,
    user_id: str,
    key: str,
    content: str,
    *,
    type: MemoryType = "fact",
    domains: Sequence[str] = ("general",),
    importance: float = 0.7,
    now: datetime | None = None,
) -> Memory:
    """Correct or add one memory by hand; it overrules what was known of the thing. As it is kept: under the one
    spelling of its key, personal data masked.

    Raises InvalidInput when key or content is empty or too long, or the key names a state of the business.
    """
    checked_user_id(user_id)
    text = mask(clean_text(content).strip())
    name = clean_text(key).strip()
    if not text or len(text) > LONGEST_CONTENT:
        raise InvalidInput(
            f"A memory's content has 1 to {LONGEST_CONTENT} characters; give it as one sentence."
        )
    if not name or len(name) > LONGEST_KEY:
        raise InvalidInput(f"A memory's key has 1 to {LONGEST_KEY} characters, such as delivery_day.")
    at = now or datetime.now(UTC)
    new = NewMemory(
        key=name,
        content=text,
        type=type,
        said_at=at,
        vector=(await embedder.embed([text]))[0],
        importance=importance,
        domains=tuple(domains),
        evidence=BY_HAND,
    )
    keys = _spellings(name)
    async with database.transaction() as connection:
        await lock_user(connection, user_id)
        if await (await connection.execute(STATE_KEY, (user_id, keys, at))).fetchone():
            raise InvalidInput(f"{name} is a state that the business keeps; its tools alone change it.")
        await MemoryWriter(connection, user_id, embedder.name).write([new], overrule=True)
        rows = await (await connection.execute(LIST, (user_id, at))).fetchall()
    return next(memory for memory in map(_memory, rows) if memory.key in keys)


async def forget_key(database: Database, user_id: str, key: str) -> int:
    """Erase one memory with its history, in sessions too; how many rows that were."""
    return await _forget(database, user_id, FORGET_KEY, FORGET_FACT, _spellings(key))


async def forget_memories(database: Database, user_id: str) -> int:
    """Erase all memories of a user with their history, in sessions too; how many rows. Conversations stay."""
    return await _forget(database, user_id, FORGET_ALL, FORGET_FACTS)


async def _forget(
    database: Database,
    user_id: str,
    of_memories: LiteralString,
    of_sessions: LiteralString,
    keys: Sequence[str] = (),
) -> int:
    values = {"user_id": checked_user_id(user_id), "keys": list(keys)}
    async with database.transaction() as connection:
        await lock_user(connection, user_id)
        memories = await connection.execute(of_memories, values)
        facts = await connection.execute(of_sessions, values)
        await connection.execute(BUMP, (user_id,))
        return memories.rowcount + facts.rowcount


def _memory(row: Mapping[str, Any]) -> Memory:
    return Memory(**{**row, "domains": tuple(row["domains"])})


def _spellings(key: str) -> list[str]:
    return list({clean_text(key), normalise_key(key)})
