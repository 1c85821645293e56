"""State of the business that concerns one user: a return in progress, an open claim.

Written by tool code alone, never by a model's guess, and gone when the business says so.

    await state.put("user_123", "return:ABC-20240520-001", "退货处理中，待收件", domains=("aftersale",),
                    expires_at=now + timedelta(days=14))
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from uuid import uuid4

from psycopg.types.json import Jsonb

from memory.clean import clean_text
from memory.database import Database
from memory.embeddings import Embedder, EmbeddingFailed, vector_literal
from memory.errors import InvalidInput
from memory.extraction import LONGEST_CONTENT, LONGEST_KEY
from memory.keywords import terms
from memory.masking import mask
from memory.memory_writer import BUMP, INSERT
from memory.user_lock import checked_user_id, lock_user

REPLACE = """
UPDATE user_memory SET superseded_by = %s, valid_to = least(valid_to, %s)
 WHERE user_id = %s AND memory_key = %s AND superseded_by IS NULL
"""
CLEAR = """
UPDATE user_memory SET valid_to = %s, updated_at = %s
 WHERE user_id = %s AND memory_key = %s AND memory_type = 'state' AND superseded_by IS NULL
   AND (valid_to IS NULL OR valid_to > %s)
"""

SAID_BY_NOBODY = {
    "type": "state",
    "confidence": 1.0,
    "scene": Jsonb({}),
    "evidence": "stated by the business",
    "thread_id": None,
    "message_id": None,
    "position": None,
    "superseded_by": None,
    "constrains": None,
}


class BusinessState:
    """Put and clear states of users. Without an embedder a state is found by its words alone."""

    def __init__(self, database: Database, embedder: Embedder | None = None) -> None:
        self._database = database
        self._embedder = embedder

    async def put(
        self,
        user_id: str,
        key: str,
        content: str,
        *,
        expires_at: datetime | None = None,
        domains: Sequence[str] = (),
        importance: float = 0.8,
        now: datetime | None = None,
    ) -> None:
        """State what is so from now on, in place of what the key said before.

        `expires_at` needs a time zone; None: until it is cleared. Personal data is masked.
        """
        checked_user_id(user_id)
        name, text = clean_text(key).strip(), mask(clean_text(content).strip())
        if not 0 < len(name) <= LONGEST_KEY or not 0 < len(text) <= LONGEST_CONTENT:
            raise InvalidInput(
                f"A state needs a key of 1 to {LONGEST_KEY} and a content of 1 to {LONGEST_CONTENT} characters."
            )
        at = now or datetime.now(UTC)
        id = uuid4()
        row = {
            "id": id,
            "user_id": user_id,
            "key": name,
            "content": text,
            "importance": importance,
            "domains": list(domains),
            "said_at": at,
            "valid_to": expires_at,
            **await self._searchable(text, name),
            **SAID_BY_NOBODY,
        }
        async with self._database.transaction() as connection:
            await lock_user(connection, user_id)
            await connection.execute(REPLACE, (id, at, user_id, name))
            await connection.execute(INSERT, row)
            await connection.execute(BUMP, (user_id,))

    async def clear(self, user_id: str, key: str, *, now: datetime | None = None) -> bool:
        """End a state now; whether there was one."""
        at = now or datetime.now(UTC)
        name = clean_text(key).strip()
        async with self._database.transaction() as connection:
            await lock_user(connection, checked_user_id(user_id))
            cursor = await connection.execute(CLEAR, (at, at, user_id, name, at))
            await connection.execute(BUMP, (user_id,))
            return cursor.rowcount > 0

    async def _searchable(self, text: str, key: str) -> dict[str, object]:
        """What a state is found by; a tool call does not fail for want of a vector."""
        vector = None
        if self._embedder is not None:
            with suppress(EmbeddingFailed):
                vector = vector_literal((await self._embedder.embed([text]))[0])
        model = self._embedder.name if self._embedder and vector else None
        return {"vector": vector, "model": model, "keywords": terms(f"{text} {key}")}
