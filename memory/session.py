"""The session layer: rolling summary of a long thread, snapshot of an idle one, summary of a user.

All three are made by a summariser that is handed in. One that fails or answers nothing changes nothing: the job
is tried again, and what was there stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg.types.json import Jsonb

from memory.clean import clean_text
from memory.database import Connection, Database
from memory.embeddings import Embedder, vector_literal
from memory.errors import StewardError
from memory.extraction import Summariser, SummariseRequest, Summary
from memory.key_facts import bounded, merged_order
from memory.keywords import terms
from memory.masking import mask
from memory.queue import FoldRequest
from memory.tokens import count
from memory.user_lock import erased_since, lock_user

LONGEST_FACT = 300
MOST_FACTS = 40
MEMORIES_SUMMARISED = 100

THREAD = """
SELECT user_id, last_activity_at, summary, key_facts, fact_order, folded_until FROM session_memory WHERE thread_id = %s
"""
FOLD = """
INSERT INTO session_memory (thread_id, user_id, summary, key_facts, fact_order, folded_until, folded_at)
VALUES (%(thread_id)s, %(user_id)s, %(summary)s, %(key_facts)s, %(order)s, %(until)s, now())
ON CONFLICT (thread_id) DO UPDATE
   SET summary = excluded.summary, key_facts = excluded.key_facts, fact_order = excluded.fact_order,
       folded_until = excluded.folded_until, folded_at = now()
 WHERE session_memory.user_id = excluded.user_id
   AND session_memory.folded_until IS NOT DISTINCT FROM %(after)s
"""
UNCOVERED = """
SELECT turn_id, customer, answer, said_at FROM session_turn
 WHERE thread_id = %s AND user_id = %s AND customer <> ''
 ORDER BY said_at, processed_at
"""
ACTIVE_SNAPSHOT = "SELECT summary FROM session_snapshot WHERE session_id = %s AND user_id = %s AND is_active"
RETIRE = "UPDATE session_snapshot SET is_active = false WHERE session_id = %s AND is_active"
SNAPSHOT = """
INSERT INTO session_snapshot (session_id, user_id, summary, key_facts, token_estimate, covers_until,
                              embedding, embedding_model, keywords)
SELECT %(thread_id)s, %(user_id)s, %(summary)s, %(key_facts)s, %(tokens)s, %(covers_until)s,
       %(vector)s::vector, %(model)s, array_to_tsvector(%(keywords)s::text[])
 WHERE EXISTS (SELECT FROM session_memory WHERE thread_id = %(thread_id)s AND user_id = %(user_id)s)
"""
COVER = "UPDATE session_turn SET customer = '', answer = '' WHERE thread_id = %s AND turn_id = ANY(%s)"
USER = """
SELECT version, coalesce(summary_version, -1) AS summary_version FROM user_memory_version WHERE user_id = %s
"""
USER_TEXTS = """
SELECT memory_key, content FROM user_memory
 WHERE user_id = %s AND superseded_by IS NULL AND (valid_to IS NULL OR valid_to > %s)
 ORDER BY importance DESC, last_confirmed_at DESC
 LIMIT %s
"""
KEEP_USER_SUMMARY = """
UPDATE user_memory_version SET summary = %(summary)s, summary_version = %(version)s, summary_at = now()
 WHERE user_id = %(user_id)s AND coalesce(summary_version, -1) < %(version)s
"""


class SummaryFailed(StewardError):
    """The summariser answered nothing; the job is tried again."""


@dataclass(frozen=True)
class Sessions:
    """Makes and keeps summaries."""

    database: Database
    embedder: Embedder
    summariser: Summariser

    async def fold(self, request: FoldRequest, *, job_id: int | None = None) -> bool:
        """Fold messages into the thread's rolling summary; False where another fold was quicker."""
        thread = await self.database.fetch_one(THREAD, (request.thread_id,))
        own = thread if thread and thread["user_id"] == request.user_id else None
        earlier = own["summary"] if own else ""
        if thread and thread["folded_until"] != request.after:
            return False
        made = await self._summarise(
            earlier, _conversation(request.messages), request.user_id, request.thread_id
        )
        # An overtaken fold writes nothing, so what was read before the model was asked still stands here.
        before: Mapping[str, str] = own["key_facts"] if own else {}
        order = [*(own["fact_order"] if own else ()), *made.key_facts]
        facts = bounded({**before, **made.key_facts}, order)
        async with self.database.transaction() as connection:
            await lock_user(connection, request.user_id)
            if await erased_since(connection, request.user_id, job_id, request.after_job):
                return False
            values = {
                "thread_id": request.thread_id,
                "user_id": request.user_id,
                "summary": made.summary,
                "key_facts": Jsonb(facts),
                "order": merged_order(order, list(made.key_facts), facts),
                "until": request.until,
                "after": request.after,
            }
            return (await connection.execute(FOLD, values)).rowcount == 1

    async def idle_at(self, thread_id: str, idle_seconds: float) -> datetime | None:
        """When the session will count as idle; None where it is idle already, or gone."""
        thread = await self.database.fetch_one(THREAD, (thread_id,))
        if thread is None:
            return None
        due: datetime = thread["last_activity_at"] + timedelta(seconds=idle_seconds)
        return due if due > datetime.now(UTC) else None

    async def snapshot(self, user_id: str, thread_id: str, *, job_id: int | None = None) -> bool:
        """Summarise what no snapshot covers yet, and make that the session's one active snapshot."""
        turns = await self.database.fetch(UNCOVERED, (thread_id, user_id))
        if not turns:
            return False
        before = await self.database.fetch_one(ACTIVE_SNAPSHOT, (thread_id, user_id))
        spoken = [(who, turn[who]) for turn in turns for who in ("customer", "answer") if turn[who]]
        earlier = before["summary"] if before else ""
        made = await self._summarise(earlier, _conversation(spoken), user_id, thread_id)
        vector = vector_literal((await self.embedder.embed([made.summary]))[0])
        values = {
            "thread_id": thread_id,
            "user_id": user_id,
            "summary": made.summary,
            "key_facts": Jsonb(dict(made.key_facts)),
            "tokens": count(made.summary),
            "covers_until": turns[-1]["said_at"],
            "vector": vector,
            "model": self.embedder.name if vector else None,
            "keywords": terms(made.summary),
        }
        async with self.database.transaction() as connection:
            await lock_user(connection, user_id)
            if await erased_since(connection, user_id, job_id):
                return False
            await connection.execute(RETIRE, (thread_id,))
            await connection.execute(SNAPSHOT, values)
            await connection.execute(COVER, (thread_id, [turn["turn_id"] for turn in turns]))
        return True

    async def user_summary_is_stale(self, user_id: str) -> bool:
        """Whether the user's memories have changed since their summary was made."""
        user = await self.database.fetch_one(USER, (user_id,))
        return user is not None and user["version"] > user["summary_version"]

    async def summarise_user(self, user_id: str, *, job_id: int | None = None) -> bool:
        """Make the user's cached summary for the present version of their memories; once a version."""
        user = await self.database.fetch_one(USER, (user_id,))
        if user is None or user["version"] <= user["summary_version"]:
            return False
        rows = await self.database.fetch(USER_TEXTS, (user_id, datetime.now(UTC), MEMORIES_SUMMARISED))
        if rows:
            known = "\n".join(f"{row['memory_key']}: {row['content']}" for row in rows)
            summary = (await self._summarise("", known, user_id, "")).summary
        else:
            summary = None
        async with self.database.transaction() as connection:
            await lock_user(connection, user_id)
            if await erased_since(connection, user_id, job_id):
                return False
            return await _keep_user_summary(connection, user_id, summary, user["version"])

    async def _summarise(self, earlier: str, conversation: str, user_id: str, thread_id: str) -> Summary:
        """A summary fit to be kept: masked, bounded, not empty."""
        made = await self.summariser(SummariseRequest(earlier, conversation, user_id, thread_id))
        summary = mask(clean_text(made.summary)).strip()
        if not summary:
            raise SummaryFailed("The summariser answered nothing; the job is tried again.")
        return Summary(summary, _facts(made.key_facts))


async def _keep_user_summary(connection: Connection, user_id: str, summary: str | None, version: int) -> bool:
    values = {"user_id": user_id, "summary": summary, "version": version}
    return (await connection.execute(KEEP_USER_SUMMARY, values)).rowcount == 1


def _conversation(messages: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"{speaker}: {text}" for speaker, text in messages)


def _facts(facts: Mapping[str, Any]) -> dict[str, str]:
    kept = list(facts.items())[:MOST_FACTS]
    return {
        clean_text(str(name))[:LONGEST_FACT]: mask(clean_text(str(value)))[:LONGEST_FACT]
        for name, value in kept
    }
