"""A user's long-term memories by hand: listed, corrected, forgotten one by one, shown to the extractor.

Whatever is written goes through the conflict policy under the user's lock. Keys are spelled one way
(`normalise_key`), so `Delivery Day` and `delivery_day` name the same memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

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
FORGET_KEY = "DELETE FROM user_memory WHERE user_id = %s AND memory_key = ANY(%s)"
FORGET_FACT = "DELETE FROM session_fact WHERE user_id = %s AND fact_key = ANY(%s)"

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
    return [Memory(**{**row, "domains": tuple(row["domains"])}) for row in rows]


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
) -> None:
    """Correct or add one memory by hand; it overrules what was known under the key. Personal data is masked.

    Raises InvalidInput when key or content is empty or too long.
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
    new = NewMemory(
        key=name,
        content=text,
        type=type,
        said_at=now or datetime.now(UTC),
        vector=(await embedder.embed([text]))[0],
        importance=importance,
        domains=tuple(domains),
        evidence=BY_HAND,
    )
    async with database.transaction() as connection:
        await lock_user(connection, user_id)
        await MemoryWriter(connection, user_id, embedder.name).write([new], overrule=True)


async def forget_key(database: Database, user_id: str, key: str) -> int:
    """Erase one memory with its history, in sessions too; how many rows that were."""
    checked_user_id(user_id)
    keys = list({clean_text(key), normalise_key(key)})
    async with database.transaction() as connection:
        await lock_user(connection, user_id)
        memories = await connection.execute(FORGET_KEY, (user_id, keys))
        facts = await connection.execute(FORGET_FACT, (user_id, keys))
        await connection.execute(BUMP, (user_id,))
        return memories.rowcount + facts.rowcount
